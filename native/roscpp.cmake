# Finds roscpp of ROS 1 Noetic, from Debian or /opt/ros/noetic. ROSCPP_PREFIXES lists further places to look. It sets
# ROSCPP_INCLUDE, ROSCPP_roscpp, and ROSCPP_LIBRARIES, which is empty if a library is missing. It looks for files,
# because ROS 1's CMake packages have the names of ROS 2's, and would find those of a sourced ROS 2.
set(ROSCPP_PREFIXES "$ENV{ROS_ROOT}/../.." /opt/ros/noetic)
find_path(ROSCPP_INCLUDE NAMES ros/ros.h HINTS ${ROSCPP_PREFIXES} PATH_SUFFIXES include)
set(ROSCPP_LIBRARIES "")
foreach(name roscpp roscpp_serialization rosconsole rostime xmlrpcpp cpp_common boost_thread boost_system)
  find_library(ROSCPP_${name} NAMES ${name} HINTS ${ROSCPP_PREFIXES} PATH_SUFFIXES lib)
  list(APPEND ROSCPP_LIBRARIES "${ROSCPP_${name}}")
endforeach()
if(NOT ROSCPP_INCLUDE OR ROSCPP_LIBRARIES MATCHES "NOTFOUND")
  set(ROSCPP_LIBRARIES "")
endif()
