"""Heat paper, figure 4: reward over run time on the medium platform: greedy, GACL, NLPCL and ours."""

from __future__ import annotations

from scripts.figures.shared.heat_runs import reward_over_time

if __name__ == "__main__":
    reward_over_time(__doc__, "heat-4", "medium", ("greedy", "ga", "nlp"))
