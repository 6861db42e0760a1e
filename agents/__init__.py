"""How a model answers: prompt, loop, tools and the providers behind them."""
