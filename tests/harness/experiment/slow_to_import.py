"""A module whose import outlasts any test: a reader of the FIFO knows that it has begun."""

import os
import time
from pathlib import Path

if "MEETING" in os.environ:
    Path(os.environ["MEETING"]).write_text("importing")
    time.sleep(100)
