"""Proofs about facilities: what no allocation exceeds while outlets, heat and inlets stay in their ranges."""
