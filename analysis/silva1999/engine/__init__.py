"""Simulations for drawings, and for a claim that asks what the engine does."""
