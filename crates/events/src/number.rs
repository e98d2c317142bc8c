//! The number of each kind of event, by its name: those of `enum tacho_kind` in `native/include/tacho/events.h`, where
//! alone they are declared.

#![allow(non_upper_case_globals)]

include!(concat!(env!("OUT_DIR"), "/number.rs"));
