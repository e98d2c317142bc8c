//! The function that a callback was registered as, as a reader can search for it.
//!
//! Client libraries register different things. rclpy: the recorder writes the qualified name and `file:line`. rclcpp
//! and roscpp: a demangled function, or the demangled *type* of a function object, which names the function that a
//! lambda is in, but of a bound method (`std::bind`, `boost::bind`) only its class: our recorder finds the method.

/// A function, and where it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Qualified, without arguments, template arguments and unnamed scopes: `nav::Planner::on_map`,
    /// `nav::Planner::Planner lambda 2` (its second lambda), `bound method of nav::Planner`, `Planner.reload_map`.
    pub name: String,
    /// `file:line`.
    pub location: Option<String>,
}

/// Whether a function that is defined there (`file:line`) is in Python.
pub fn is_python(location: Option<&str>) -> bool {
    location.is_some_and(|location| location.contains(".py:"))
}

impl Function {
    /// What a symbol says. Absent if it names none: nodes of a workload register what they are, `/fusion timer`.
    pub fn of(symbol: &str) -> Option<Function> {
        let (function, location) = match located(symbol) {
            Some((function, location)) => (function, Some(location.to_owned())),
            None => (symbol, None),
        };
        let is_python = location.is_some() || function.contains(".<");
        let name = if is_python {
            of_python(function)
        } else if function.contains('/') {
            return None;
        } else {
            of_cpp(function)
        };
        (!name.is_empty()).then_some(Function { name, location })
    }
}

/// `Planner.on_map (/opt/planner.py:42)`: the function, and where it is.
fn located(symbol: &str) -> Option<(&str, &str)> {
    let (function, location) = symbol.strip_suffix(')')?.split_once(" (")?;
    let (file, line) = location.rsplit_once(':')?;
    let is_line = !line.is_empty() && line.bytes().all(|digit| digit.is_ascii_digit());
    (is_line && !file.is_empty()).then_some((function, location))
}

/// Of a qualified name of Python, without the marks of what is local to a function.
fn of_python(name: &str) -> String {
    name.replace(".<locals>", "").replace(".<lambda>", " lambda").replace("<lambda>", "lambda")
}

/// Of a demangled name of C++.
fn of_cpp(name: &str) -> String {
    let name = name.trim();
    bound(name).unwrap_or_else(|| qualified(name))
}

/// Of what `std::bind` or `boost::bind` made.
fn bound(name: &str) -> Option<String> {
    let method_of = |class: &str| format!("bound method of {}", qualified(class));
    let within = |head: &str| name.strip_prefix(head)?.strip_suffix('>');
    if let Some(of) = within("std::_Bind<").or_else(|| within("std::_Bind_result<")) {
        // As a function type whose name is what is called: `R (Class::*(Class*, _1))(Message)`, `R (*(_1))(Message)`.
        if let Some(end) = of.find("::*(") {
            return Some(method_of(&of[opening_before(of, end)? + 1..end]));
        }
        if of.contains("(*(") {
            return Some("bound function".into());
        }
        // `Class::method()::{lambda(Message)#1} (_1)`
        let called = of.rfind(" (").map_or(of, |end| &of[..end]);
        return Some(qualified(called));
    }
    let of = within("boost::_bi::bind_t<")?;
    let callable = template_arguments(of).nth(1)?;
    match callable.strip_prefix("boost::_mfi::").and_then(|mf| mf.split_once('<')) {
        Some((_, arguments)) => Some(method_of(template_arguments(arguments).nth(1)?.trim_end_matches('>'))),
        None if callable.contains("(*)") => Some("bound function".into()),
        None => Some(qualified(callable)),
    }
}

/// The parenthesis that is open at a place.
fn opening_before(text: &str, place: usize) -> Option<usize> {
    let mut closed = 0;
    for (index, letter) in text[..place].char_indices().rev() {
        match letter {
            ')' => closed += 1,
            '(' if closed == 0 => return Some(index),
            '(' => closed -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments between commas that are in no brackets.
fn template_arguments(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |letter| {
        match letter {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
}

/// A qualified name without return type, arguments, template arguments and unnamed namespaces; its lambdas in words.
fn qualified(name: &str) -> String {
    let mut out = String::new();
    for scope in scopes(name) {
        let (words, is_lambda) = match lambda(scope) {
            Some(number) => (format!("lambda {number}"), true),
            None => (plain(scope), false),
        };
        if words.is_empty() || words == "operator()" {
            continue;
        }
        // A blank outside of brackets ends the return type.
        match words.rsplit_once(' ').filter(|_| !is_lambda && !words.starts_with("operator ")) {
            Some((_, behind)) => out = behind.to_owned(),
            None => {
                out.push_str(if out.is_empty() {
                    ""
                } else if is_lambda {
                    " "
                } else {
                    "::"
                });
                out.push_str(&words);
            }
        }
    }
    out
}

/// What stands between `::` that are in no brackets.
fn scopes(name: &str) -> Vec<&str> {
    let (mut all, mut from, mut depth) = (Vec::new(), 0, 0i32);
    let mut letters = name.char_indices().peekable();
    while let Some((index, letter)) = letters.next() {
        match letter {
            // Of an operator these are no brackets.
            _ if name[..index].ends_with("operator") && "<>-(=!".contains(letter) => {
                while letters.next_if(|(_, next)| "<>=-)".contains(*next)).is_some() {}
            }
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            ':' if depth == 0 && name[index..].starts_with("::") => {
                letters.next();
                all.push(&name[from..index]);
                from = index + 2;
            }
            _ => {}
        }
    }
    all.push(&name[from..]);
    all
}

/// Which lambda of its function a scope is, from 1: `{lambda(int)#2}` of the GNU demangler, `'lambda0'(int)` of LLVM's,
/// `$_1` of Clang for one without a name.
fn lambda(scope: &str) -> Option<u32> {
    if let Some(of) = scope.strip_prefix("{lambda(") {
        return of.rsplit_once('#')?.1.strip_suffix('}')?.parse().ok();
    }
    if let Some(of) = scope.strip_prefix("'lambda") {
        let number = of.split_once('\'')?.0;
        return if number.is_empty() { Some(1) } else { number.parse().ok().and_then(|n: u32| n.checked_add(2)) };
    }
    scope.strip_prefix("$_")?.parse().ok().and_then(|number: u32| number.checked_add(1))
}

/// A scope without what stands in brackets, and without what follows its arguments (`const`).
fn plain(scope: &str) -> String {
    if let Some(at) = scope.find("operator") {
        let symbol = &scope[at + "operator".len()..];
        // `operator()(int) const`, `operator<(int)`, `operator bool()`
        let end = symbol[1.min(symbol.len())..].find('(').map_or(symbol.len(), |end| end + 1);
        if symbol.starts_with(|c: char| !c.is_alphanumeric() && c != '_') {
            return format!("operator{}", symbol[..end].trim_end());
        }
    }
    let (mut out, mut depth, mut has_arguments) = (String::new(), 0, false);
    for letter in scope.chars() {
        match letter {
            '<' | '(' | '{' | '[' => {
                depth += 1;
                has_arguments |= letter == '(' && depth == 1 && !out.trim().is_empty();
            }
            '>' | ')' | '}' | ']' => depth -= 1,
            _ if depth == 0 && !has_arguments => out.push(letter),
            _ => {}
        }
    }
    out.trim().to_owned()
}

/// The part of a function's name that is its own, which nothing may cut off: `on_map` of `nav::Planner::on_map`,
/// `Planner lambda 2` of `nav::Planner::Planner lambda 2`.
pub fn own_name(function: &str) -> &str {
    let of_cpp = function.rfind("::").map(|at| at + 2);
    let at = of_cpp.or_else(|| function.rfind('.').map(|at| at + 1)).unwrap_or(0);
    &function[at..]
}

/// A name in at most `width` characters: its beginning is left out, never its end.
pub fn cut_left(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(length - width.saturating_sub(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(symbol: &str) -> String {
        Function::of(symbol).map_or(String::new(), |function| function.name)
    }

    #[test]
    fn lambdas_of_rclcpp_are_named_by_the_function_they_are_in() {
        for (symbol, expected) in [
            ("(anonymous namespace)::Source::Source()::{lambda()#1}", "Source::Source lambda 1"),
            ("main::{lambda(geometry_msgs::msg::PointStamped_<std::allocator<void> > const&)#3}", "main lambda 3"),
            (
                "(anonymous \
                 namespace)::Sink::subscribe<std::shared_ptr<geometry_msgs::msg::PointStamped_<std::allocator<void> > \
                 const> >(char const*, char const*, unsigned \
                 long)::{lambda(std::shared_ptr<geometry_msgs::msg::PointStamped_<std::allocator<void> > const>)#1}",
                "Sink::subscribe lambda 1",
            ),
            (
                "message_filters::Subscriber<geometry_msgs::msg::PointStamped_<std::allocator<void> >, \
                 rclcpp::Node>::subscribe(rclcpp::Node*, std::__cxx11::basic_string<char, std::char_traits<char>, \
                 std::allocator<char> > const&, rclcpp::QoS const&, \
                 rclcpp::SubscriptionOptionsWithAllocator<std::allocator<void> \
                 >)::{lambda(std::shared_ptr<geometry_msgs::msg::PointStamped_<std::allocator<void> > const>)#1}",
                "message_filters::Subscriber::subscribe lambda 1",
            ),
            (
                "nav::Planner::Planner(int)::{lambda()#1}::operator()() const::{lambda(int)#2}",
                "nav::Planner::Planner lambda 1 lambda 2",
            ),
            ("nav::Planner::Planner()::'lambda0'(int)", "nav::Planner::Planner lambda 2"),
            ("main::$_0", "main lambda 1"),
        ] {
            assert_eq!(name(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn of_a_bound_method_its_type_names_the_class_alone() {
        for (symbol, expected) in [
            (
                "std::_Bind<void ((anonymous namespace)::Relay::*((anonymous namespace)::Relay*, \
                 std::_Placeholder<1>))(std::shared_ptr<geometry_msgs::msg::PointStamped_<std::allocator<void> > \
                 const>)>",
                "bound method of Relay",
            ),
            ("std::_Bind<void (TraceNode::*(TraceNode*))()>", "bound method of TraceNode"),
            (
                "std::_Bind<void \
                 (rclcpp_lifecycle::LifecycleNode::LifecycleNodeInterfaceImpl::*\
                 (rclcpp_lifecycle::LifecycleNode::LifecycleNodeInterfaceImpl*, std::_Placeholder<1>, \
                 std::_Placeholder<2>, std::_Placeholder<3>))(std::shared_ptr<rmw_request_id_s>, \
                 std::shared_ptr<lifecycle_msgs::srv::GetState_Request_<std::allocator<void> > >) const>",
                "bound method of rclcpp_lifecycle::LifecycleNode::LifecycleNodeInterfaceImpl",
            ),
            ("std::_Bind<void (*(std::_Placeholder<1>))(std::shared_ptr<int>)>", "bound function"),
            ("std::_Bind<Relay::Relay()::{lambda(int)#1} (std::_Placeholder<1>)>", "Relay::Relay lambda 1"),
            (
                "boost::_bi::bind_t<void, boost::_mfi::mf1<void, nav::Planner, ros::TimerEvent const&>, \
                 boost::_bi::list2<boost::_bi::value<nav::Planner*>, boost::arg<1> > >",
                "bound method of nav::Planner",
            ),
            (
                "boost::_bi::bind_t<void, void (*)(ros::TimerEvent const&, int), boost::_bi::list2<boost::arg<1>, \
                 boost::_bi::value<int> > >",
                "bound function",
            ),
        ] {
            assert_eq!(name(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn functions_lose_their_arguments_and_return_types() {
        for (symbol, expected) in [
            ("tick()", "tick"),
            ("(anonymous namespace)::on_points(std::shared_ptr<int const>)", "on_points"),
            ("void nav::on<std::vector<int> >(ros::TimerEvent const&)", "nav::on"),
            ("std::shared_ptr<int> nav::make<int>(int)", "nav::make"),
            ("nav::Planner::on_map(int) const", "nav::Planner::on_map"),
            ("nav::Functor::operator()(int) const", "nav::Functor"),
            ("nav::Cell::operator<(nav::Cell const&) const", "nav::Cell::operator<"),
            ("nav::Functor", "nav::Functor"),
            ("std::function<void (int)>", "std::function"),
            ("boost::function<void (ros::TimerEvent const&)>", "boost::function"),
            ("", ""),
        ] {
            assert_eq!(name(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn functions_of_rclpy_have_a_file_and_a_line() {
        for (symbol, expected, location) in [
            ("Planner.reload_map (/opt/planner.py:42)", "Planner.reload_map", "/opt/planner.py:42"),
            ("main.<locals>.tick (/a b (c)/x.py:7)", "main.tick", "/a b (c)/x.py:7"),
            ("Planner.__init__.<locals>.<lambda> (p.py:9)", "Planner.__init__ lambda", "p.py:9"),
            ("<lambda> (<stdin>:1)", "lambda", "<stdin>:1"),
        ] {
            let found = Function::of(symbol).expect(symbol);
            assert_eq!((found.name.as_str(), found.location.as_deref()), (expected, Some(location)));
        }
        assert_eq!(name("list.append"), "list.append");
        assert_eq!(name("Outer.<locals>.Inner.method"), "Outer.Inner.method");
    }

    #[test]
    fn what_nodes_of_a_workload_register_is_no_function() {
        for symbol in ["/fusion timer", "fusion::on(/points)", "fusion::publish(/points)"] {
            assert_eq!(Function::of(symbol), None, "{symbol}");
        }
    }

    #[test]
    fn no_symbol_however_broken_ends_the_reading() {
        let symbol =
            "(anonymous namespace)::A<int>::operator()(x)::{lambda(std::_Bind<void (B::*(B*))()>)#1} (é/f.py:1)";
        for (from, _) in symbol.char_indices() {
            for (to, _) in symbol.char_indices().filter(|(to, _)| *to >= from) {
                Function::of(&symbol[from..to]);
            }
        }
    }

    #[test]
    fn a_name_is_cut_on_its_left_and_its_own_part_is_known() {
        assert_eq!(own_name("nav::Planner::on_map"), "on_map");
        assert_eq!(own_name("nav::Planner::Planner lambda 2"), "Planner lambda 2");
        assert_eq!(own_name("Planner.reload_map"), "reload_map");
        assert_eq!(own_name("tick"), "tick");
        assert_eq!(cut_left("nav::Planner::on_map", 8), "…:on_map");
        assert_eq!(cut_left("on_map", 8), "on_map");
    }
}
