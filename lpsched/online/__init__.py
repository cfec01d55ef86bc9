"""Tasks that arrive over time on machines (days) and on clusters, and are worth less the later they end."""
