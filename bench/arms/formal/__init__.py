"""The `formal` arm: structured methods, compiled into estimation code.

A true baseline without a model: how far does the written specification alone carry?
"""

from bench.arms.formal.arm import FormalArm

__all__ = ["FormalArm"]
