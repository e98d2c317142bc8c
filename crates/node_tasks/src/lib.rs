//! The tasks of nodes on client libraries, which are programs in C++ and Python.
//!
//! A shared library behind the C interface of `native/include/tacho/node_tasks.h`. It runs tasks with the code of
//! `tacho-node`, so a node on rclcpp or rclpy treats its task as a node on a middleware plugin does.

mod node_task;
mod seam;

pub use seam::tacho_node_tasks;
