"""What is remembered: Markdown notes, cut into chunks, indexed and searched."""
