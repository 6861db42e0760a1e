"""python -m gateway: the same as the command `clawd`."""

from gateway.cli.app import main

if __name__ == "__main__":
    main()
