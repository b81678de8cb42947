"""Daily and project budgets on this machine: what the configuration sets, and what they keep from starting."""
