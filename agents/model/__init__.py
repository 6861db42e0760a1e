"""Model providers: one protocol, one file for each wire API."""
