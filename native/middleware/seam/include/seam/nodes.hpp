// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a session, for plugins in C++.
#ifndef TACHO_SEAM_NODES_HPP_
#define TACHO_SEAM_NODES_HPP_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <seam/guard.hpp>

namespace seam {

// Nodes by name. Node is the plugin's own type, and its address stays the same. If a node is only a name, that address
// is its handle. Not locked.
template <class Node = char>
class Nodes {
 public:
  // Refuses a name that exists. For a new name, `make` returns the node as a std::unique_ptr.
  template <class Make>
  Node &add(const char *name, Make make) {
    if (nodes_.count(name)) fail("this session already has a node \"%s\"", name);
    std::unique_ptr<Node> made = make();
    return *nodes_.emplace(name, std::move(made)).first->second;
  }
  Node &add(const char *name) {
    return add(name, [] { return std::make_unique<Node>(); });
  }

  // Returns the node of an endpoint; refuses a name that was not made.
  Node &of(const tacho_endpoint_config &config) const {
    const auto found = nodes_.find(config.node);
    if (found == nodes_.end()) fail("%s: this session has no node \"%s\"", config.topic, config.node);
    return *found->second;
  }

  void clear() { nodes_.clear(); }

 private:
  std::map<std::string, std::unique_ptr<Node>> nodes_;
};

}  // namespace seam

#endif  // TACHO_SEAM_NODES_HPP_
