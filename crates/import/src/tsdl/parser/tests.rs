use super::super::types::*;
use super::parse;
use super::type_specifiers::DEPTH_MAX;
use std::sync::Arc;

fn fields(text: &str) -> Vec<Field> {
    let (found, faults) = parse(text);
    assert_eq!(faults, []);
    match &found.events[0].fields {
        Some(Type::Structure(of)) => of.fields.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_of_field_is_read() {
    let found = fields(
        "typealias integer { size = 32; signed = true; byte_order = be; } := signed int;
         typedef integer { size = 5; } five_t;
         enum kind : five_t { A, B = 4 ... 6, \"c\" };
         struct pair { five_t x; signed int y; } align(32);
         variant either { string A; struct pair B; };
         event { name = \"e\"; id = 3; fields := struct {
             enum kind k; variant either <k> v; signed int list[2][3]; five_t n; string { encoding = UTF8; } names[n];
             floating_point { exp_dig = 8; mant_dig = 24; align = 8; } f; struct pair p;
         }; };",
    );
    let integer = Integer { bits: 32, align: 8, signed: true, order: ByteOrder::Big, clock: None };
    let names: Vec<&str> = found.iter().map(|f| &*f.name).collect();
    assert_eq!(names, ["k", "v", "list", "n", "names", "f", "p"]);
    let Type::Enumeration(kind) = &found[0].of else { panic!() };
    assert_eq!(kind.ranges, [("A".into(), 0, 0), ("B".into(), 4, 6), ("c".into(), 7, 7)]);
    assert_eq!((kind.integer.bits, kind.integer.align), (5, 1));
    let Type::Variant(either) = &found[1].of else { panic!() };
    assert_eq!((either.tag.as_deref(), either.options.len()), (Some("k"), 2));
    assert_eq!(found[2].of, Type::Array(Arc::new(Type::Array(Arc::new(Type::Integer(integer)), 3)), 2));
    assert_eq!(found[4].of, Type::Sequence(Arc::new(Type::String), "n".into()));
    assert!(matches!(found[5].of, Type::Float(Integer { bits: 32, .. })));
    let Type::Structure(pair) = &found[6].of else { panic!() };
    assert_eq!(pair.align, 32);
}

#[test]
fn a_bad_declaration_is_named_and_the_others_stand() {
    let text = "event { name = \"a\"; fields := struct { unknown_t x; }; };\nevent { name = \"b\"; };";
    let (found, faults) = parse(text);
    assert_eq!(found.events.iter().map(|e| &*e.name).collect::<Vec<_>>(), ["b"]);
    assert_eq!((faults.len(), &text[faults[0].at..][..9]), (1, "unknown_t"));
    assert_eq!(faults[0].found, "the type \"unknown_t\"");
}

#[test]
fn text_that_ends_in_the_middle_keeps_what_was_whole() {
    let (found, faults) = parse("env { hostname = \"h\"; };\nevent { name = \"b\"; fields := struct { str");
    assert_eq!(found.environment["hostname"], "h");
    assert_eq!((found.events.len(), faults.len()), (0, 1));
}

#[test]
fn types_nested_without_end_are_refused() {
    let brackets = format!("event {{ fields := {} }};", "struct { ".repeat(100_000));
    assert!(!parse(&brackets).1.is_empty());
    let mut names = String::from("typealias integer { size = 8; } := t0;\n");
    for i in 1..1000 {
        names.push_str(&format!("typealias struct {{ t{} a; t{} b; }} := t{i};\n", i - 1, i - 1));
    }
    assert_eq!(parse(&names).1.len(), 1000 - 1 - DEPTH_MAX);
}
