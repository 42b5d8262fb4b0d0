"""The jail: what a command may see, and the scan that shows that no answer is in it."""

from __future__ import annotations

from bench.jail.probe import Probe, probe
from bench.jail.sandbox import JailedSandbox, open_sandbox
from bench.jail.unjailed import UnjailedSandbox

__all__ = ["JailedSandbox", "Probe", "UnjailedSandbox", "open_sandbox", "probe"]
