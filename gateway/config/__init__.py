"""clawd.yaml: from text to settings that can be trusted, or to a list of what is wrong with it."""

from gateway.config.load import Loaded, load, load_with_sources
from gateway.config.problems import ConfigError, Problem
from gateway.config.settings import Config, GatewaySettings

__all__ = ["Config", "ConfigError", "GatewaySettings", "Loaded", "Problem", "load", "load_with_sources"]
