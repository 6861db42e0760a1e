"""How people talk to clawd: one folder a platform, and the values they all share."""
