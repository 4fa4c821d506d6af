"""Whether a change may ship: policy, verdicts, the gate and what follows it."""
