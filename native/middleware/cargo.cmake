# Plugins in Rust: one workspace of cargo's beside this file. Their dependencies take minutes to build, so they are not
# part of `all`: the target `rust_plugins` builds them (`make plugins`).
include_guard(GLOBAL)
find_program(TACHO_CARGO cargo HINTS "$ENV{HOME}/.cargo/bin")
# Kept in the home cache, beside the other crates, so that a second checkout need not build everything again.
if(DEFINED ENV{CARGO_TARGET_DIR})
  set(tacho_cargo_target "$ENV{CARGO_TARGET_DIR}/plugins" CACHE INTERNAL "")
else()
  set(tacho_cargo_target "$ENV{HOME}/.cache/tachograph/target/plugins" CACHE INTERNAL "")
endif()

if(TACHO_CARGO)
  set(tacho_cargo "${CMAKE_COMMAND}" -E env "CARGO_TARGET_DIR=${tacho_cargo_target}" "${TACHO_CARGO}")
  set(tacho_cargo_manifest --release --locked --manifest-path "${CMAKE_CURRENT_LIST_DIR}/Cargo.toml")
  # One call builds all of them, so that shared crates are built once, with the same features.
  add_custom_target(rust_workspace COMMAND ${tacho_cargo} build ${tacho_cargo_manifest} --workspace USES_TERMINAL)
  add_custom_target(rust_plugins)
  add_test(NAME rust_plugins_units COMMAND ${tacho_cargo} test ${tacho_cargo_manifest} --workspace --quiet)
  set_tests_properties(rust_plugins_units PROPERTIES TIMEOUT 1800)
endif()

# tacho_cargo_plugin(NAME): libtacho_NAME.so of the crate tacho-NAME, as a target tacho_NAME.
function(tacho_cargo_plugin name)
  set(library "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libtacho_${name}.so")
  set(missing "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libtacho_${name}.missing")
  add_library(tacho_${name} MODULE IMPORTED GLOBAL)
  set_target_properties(tacho_${name} PROPERTIES IMPORTED_LOCATION "${library}")
  add_custom_target(put_tacho_${name} VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${tacho_cargo_target}/release/libtacho_${name}.so" "${library}"
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${missing}")
  add_dependencies(put_tacho_${name} rust_workspace)
  add_dependencies(rust_plugins put_tacho_${name})
  tacho_conformance(tacho_${name})
  if(NOT EXISTS "${library}")
    file(WRITE "${missing}" "It is not built yet: make plugins (its dependencies take some minutes the first time).\n")
  endif()
endfunction()
