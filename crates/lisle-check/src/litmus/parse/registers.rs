//! The names of registers, which the code and the initial state have in common.

/// The 64-bit name of a register, and whether that was the name given. XZR has no number.
pub(super) fn aarch64(name: &str) -> Option<(String, bool)> {
    let name = name.to_ascii_uppercase();
    let wide = name.starts_with('X');
    let number = name.strip_prefix(['X', 'W'])?;
    let known = number.parse::<u8>().is_ok_and(|number| number <= 30) && !number.starts_with('+');
    known.then(|| (format!("X{number}"), wide))
}

/// The names of the registers, of 64 and of 32 bits.
const REGISTERS: [(&str, &str); 16] = [
    ("RAX", "EAX"),
    ("RBX", "EBX"),
    ("RCX", "ECX"),
    ("RDX", "EDX"),
    ("RSI", "ESI"),
    ("RDI", "EDI"),
    ("RBP", "EBP"),
    ("RSP", "ESP"),
    ("R8", "R8D"),
    ("R9", "R9D"),
    ("R10", "R10D"),
    ("R11", "R11D"),
    ("R12", "R12D"),
    ("R13", "R13D"),
    ("R14", "R14D"),
    ("R15", "R15D"),
];

/// The name of 64 bits for a name of 64 or 32 bits, and whether the name had 64.
pub(super) fn x86(name: &str) -> Option<(&'static str, bool)> {
    let name = name.to_ascii_uppercase();
    let (long, _) = REGISTERS.iter().find(|(long, short)| *long == name || *short == name)?;
    Some((long, *long == name))
}
