// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <typeinfo>

extern "C" bool tacho_function_name(const void *code, char *name, size_t size);

namespace {

std::string demangled(const char *name) {
  int status = 0;
  char *readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string text = status == 0 && readable ? readable : name;
  std::free(readable);
  return text;
}

bool starts_with(const std::string &text, const char *head) { return text.compare(0, std::strlen(head), head) == 0; }

// The function object that a boost::function holds, wherever it keeps it.
const void *object_of(const boost::function_base &function) {
  using namespace boost::detail::function;
  function_buffer asked;
  asked.members.type.type = &function.target_type();
  asked.members.type.const_qualified = asked.members.type.volatile_qualified = false;
  const auto manager =
      reinterpret_cast<const vtable_base *>(reinterpret_cast<uintptr_t>(function.vtable) & ~uintptr_t{1});
  manager->manager(function.functor, asked, check_functor_type_tag);
  return asked.members.obj_ptr;
}

// The address that a pointer to a method holds. Null: the method is virtual, so the object decides which one runs.
const void *code_of(const uintptr_t *method) {
#ifdef __aarch64__
  const bool is_virtual = method[1] & 1;
#else
  const bool is_virtual = method[0] & 1;
#endif
  return is_virtual ? nullptr : reinterpret_cast<const void *>(method[0]);
}

// Names what the first member of a helper calls, its boost::function, which stands behind the virtual table.
std::string of_first_member(const void *helper, const std::type_info &type, const char *known) {
  if (!starts_with(demangled(type.name()), known)) return "";
  return name_of_function(
      *reinterpret_cast<const boost::function_base *>(static_cast<const char *>(helper) + sizeof(void *)));
}

}  // namespace

std::string name_of_function(const boost::function_base &function) {
  if (function.empty()) return "";
  const std::string type = demangled(function.target_type().name());
  const auto words = static_cast<const uintptr_t *>(object_of(function));
  const void *code = nullptr;
  if (words && type.find("(*)(") != std::string::npos && type.find('<') > type.find("(*)("))
    code = reinterpret_cast<const void *>(words[0]);
  else if (words && starts_with(type, "boost::_bi::bind_t<") && type.find("boost::_mfi::") != std::string::npos)
    code = code_of(words);
  else if (words && starts_with(type, "boost::function<"))
    return name_of_function(*reinterpret_cast<const boost::function_base *>(words));
  char name[1024];
  return code && tacho_function_name(code, name, sizeof name) ? name : type;
}

std::string name_of_function(const ros::SubscriptionCallbackHelper &helper) {
  return of_first_member(&helper, typeid(helper), "ros::SubscriptionCallbackHelperT<");
}

std::string name_of_function(const ros::ServiceCallbackHelper &helper) {
  return of_first_member(&helper, typeid(helper), "ros::ServiceCallbackHelperT<");
}
