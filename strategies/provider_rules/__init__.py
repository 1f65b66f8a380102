"""What providers accept: profiles, the rules V01 to V36 as checks, and repairs that make any window valid."""

from .checks import CHECKS, check
from .profile_choice import profile_for
from .profiles import PROFILES
from .repairs import Repaired, repair
from .window import Reference, Violation

__all__ = ["CHECKS", "PROFILES", "Reference", "Repaired", "Violation", "check", "profile_for", "repair"]
