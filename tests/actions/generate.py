"""Makes the Python package `tacho_test_interfaces` with the action Count, by the rosidl generators of this environment (ROS wheels).

usage: generate.py DIRECTORY    run by the environment's own Python; the package is then below DIRECTORY, for PYTHONPATH

One extension module holds the message code, its Fast DDS type support and what Python converts.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PREFIX = Path(sys.prefix)
os.environ["AMENT_PREFIX_PATH"] = str(PREFIX)

import numpy  # noqa: E402
from rosidl_generator_c.cli import GenerateC  # noqa: E402
from rosidl_generator_py.cli import GeneratePython  # noqa: E402
from rosidl_typesupport_c.cli import GenerateCTypesupport  # noqa: E402
from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport  # noqa: E402

NAME = "tacho_test_interfaces"
DDS = "rosidl_typesupport_fastrtps_c"
to = Path(sys.argv[1]).resolve()
generated = to / "generated" / NAME
generated.mkdir(parents=True)
# Only one type support, so that nothing is searched for at run time.
generators = [
    GenerateC("c"),
    GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]),
    GenerateCTypesupport("c", typesupport_implementations=[DDS]),
    GenerateFastRTPSCTypesupport("fastrtps_c"),
]
for generator in generators:
    generator.generate(NAME, [f"{Path(__file__).parent}:action/Count.idl"], [str(PREFIX / "share")], generated)

# The wheels' Fast CDR is below include/ itself; a system may have another one.
include = [
    generated.parent,
    PREFIX / "include",
    *(PREFIX / "include").glob("*/"),
    sysconfig.get_path("include"),
    numpy.get_include(),
]
flags = ["-fPIC", "-O1", "-w", *(f"-I{path}" for path in include)]
sources = sorted(path for path in generated.rglob("*") if path.suffix in (".c", ".cpp"))
objects = [source.with_suffix(".o") for source in sources]
for source, made in zip(sources, objects):
    compiler = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc", "-std=gnu11"]
    subprocess.run([*compiler, *flags, "-c", source, "-o", made], check=True)

package = to / NAME
for module in generated.rglob("*.py"):
    place = package / module.relative_to(generated)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(module, place)
(package / "__init__.py").touch()
folders = [PREFIX / "lib", *Path(sysconfig.get_path("platlib")).glob("ros_*.libs")]
libraries = [
    "rosidl_runtime_c",
    "rosidl_typesupport_c",
    DDS,
    "rosidl_typesupport_fastrtps_cpp",
    "rcutils",
    "rmw",
    "fastcdr",
]
for used in ("action_msgs", "builtin_interfaces", "service_msgs", "unique_identifier_msgs"):
    libraries += [
        f"{used}__{what}" for what in ("rosidl_generator_c", "rosidl_generator_py", "rosidl_typesupport_c", DDS)
    ]
extension = package / f"{NAME}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
where = [f"{option}{folder}" for folder in folders for option in ("-L", "-Wl,-rpath,")]
subprocess.run(
    ["g++", "-shared", *objects, "-o", extension, *where, *(f"-l{library}" for library in libraries)], check=True
)
