//! Node processes and recorded programs: one run is one run directory.
