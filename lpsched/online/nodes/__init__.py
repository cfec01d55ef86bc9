"""Clusters as their tasks arrive: availability of nodes, the engine, and what policies see."""
