"""Policies of modes. `ModeRulesFile` decides by a file of rules that may change while it runs."""
