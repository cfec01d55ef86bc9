"""Every test gives the same answer twice, and can be interrupted.

Property tests draw the same examples in every run, so that a gate does not turn red by chance. To look for new
ones: HYPOTHESIS_PROFILE=explore scripts/test tests/property
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell that started us may ignore Ctrl-C
settings.register_profile("steady", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
