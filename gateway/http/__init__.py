"""The HTTP surface: health, chat, sessions, memory, the web chat."""
