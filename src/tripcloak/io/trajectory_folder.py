"""The folder of a release of trajectories: written whole, read as readers have it, read as it was made."""

from tripcloak.io.trajectory_reading import read_trajectory_folder, release_of_folder
from tripcloak.io.trajectory_writing import Pages, write_trajectory_release

__all__ = ["Pages", "read_trajectory_folder", "release_of_folder", "write_trajectory_release"]
