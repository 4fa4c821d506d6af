"""Whether a change may ship: a policy, the verdicts of its rules, the gate's decision, and what follows a release."""
