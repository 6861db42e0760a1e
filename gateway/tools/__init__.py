"""Tools that need the daemon; the composition root hands them to the agents."""
