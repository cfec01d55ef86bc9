"""What users bring. Nothing here imports NumPy, except the two modules that say so: arrays, heterogeneity."""

from lpsched.instance.bag import FORMAT, Bag
from lpsched.instance.door import bag_from_dict
from lpsched.instance.parts import MachineType, Prices, Site, TaskType
from lpsched.instance.table import Table

__all__ = ["FORMAT", "Bag", "MachineType", "Prices", "Site", "Table", "TaskType", "bag_from_dict"]
