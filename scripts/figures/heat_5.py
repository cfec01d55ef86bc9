"""Heat paper, figure 5: reward over run time on the large platform: greedy, GACL and ours."""

from __future__ import annotations

from scripts.figures.shared.heat_runs import reward_over_time

if __name__ == "__main__":
    reward_over_time(__doc__, "heat-5", "large", ("greedy", "ga"))
