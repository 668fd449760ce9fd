//! Loads, stores, and updates of AArch64.

use super::operands::{Named, address, extend, named, of_same_width};
use crate::litmus::error::ParseError;
use crate::litmus::parse::columns::Column;
use crate::litmus::parse::cursor::Cursor;
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::{CompareExchange, Instruction, Operand, Order, Size, Update};

/// Translates an instruction that accesses memory; `None` if there is none with this name.
pub(super) fn translate(
    name: &str,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<Option<()>, ParseError> {
    let loads = [
        ("LDR", Order::Plain, false),
        ("LDUR", Order::Plain, false),
        ("LDAR", Order::Acquire, false),
        ("LDAPR", Order::AcquirePc, false),
        ("LDAPUR", Order::AcquirePc, false),
        ("LDXR", Order::Plain, true),
        ("LDAXR", Order::Acquire, true),
    ];
    for (family, order, exclusive) in loads {
        if let Some(form) = name.strip_prefix(family).and_then(form) {
            load(Load { order, exclusive, form }, cell, column)?;
            return Ok(Some(()));
        }
    }
    match name {
        "LDP" | "LDNP" | "LDPSW" | "STP" | "STNP" => {
            let size = (name == "LDPSW").then_some(4);
            pair(name.starts_with("LD"), size, cell, column)?;
            return Ok(Some(()));
        }
        _ => {}
    }
    let stores = [
        ("STR", Order::Plain, false),
        ("STUR", Order::Plain, false),
        ("STLR", Order::Release, false),
        ("STLUR", Order::Release, false),
        ("STXR", Order::Plain, true),
        ("STLXR", Order::Release, true),
    ];
    for (family, order, exclusive) in stores {
        if let Some(Form { size, signed: false }) = name.strip_prefix(family).and_then(form) {
            match exclusive {
                true => store_exclusive(order, size, cell, column)?,
                false => store(order, size, cell, column)?,
            }
            return Ok(Some(()));
        }
    }
    update(name, cell, column)
}

/// The suffix of a name, which gives the size and sign of the access.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Without it the access is as wide as the register.
    size: Option<Size>,
    signed: bool,
}

fn form(ending: &str) -> Option<Form> {
    let (size, signed) = match ending {
        "" => (None, false),
        "B" => (Some(1), false),
        "H" => (Some(2), false),
        "SB" => (Some(1), true),
        "SH" => (Some(2), true),
        "SW" => (Some(4), true),
        _ => return None,
    };
    Some(Form { size, signed })
}

/// The size of an access by a register: by the suffix of the name, which only a 32-bit register may
/// have.
fn size_of(register: Named, size: Option<Size>, at: &Cursor<'_>) -> Result<Size, ParseError> {
    match size {
        Some(_) if register.wide && register.register.is_some() => {
            Err(at.error("a part of a register is accessed by its 32-bit name, as in W0"))
        }
        Some(size) => Ok(size),
        None => Ok(register.size()),
    }
}

struct Load {
    order: Order,
    exclusive: bool,
    form: Form,
}

fn load(load: Load, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<(), ParseError> {
    let Load { order, exclusive, form } = load;
    let at = *cell;
    let named = named(cell, column)?;
    let size = match form {
        Form { size: Some(size), signed: true } => size,
        Form { size, .. } => size_of(named, size, &at)?,
    };
    cell.symbol(",")?;
    let on_address = *cell;
    let address = address(&[named], cell, column)?;
    let address = address.writing_back_if(order == Order::Plain && !exclusive, &on_address)?;
    load_into(named, &address.address, (size, form.signed), (order, exclusive), column);
    address.write_back(column);
    Ok(())
}

/// Loads into a register.
fn load_into(
    named: Named,
    address: &Operand,
    (size, signed): (Size, bool),
    (order, exclusive): (Order, bool),
    column: &mut Column<'_>,
) {
    // The value is extended by its type in memory, and then by the suffix of the name for the
    // register.
    let loaded = column.thread.temporary();
    column.push(Instruction::Load { target: loaded, address: address.clone(), size, order, exclusive });
    let extension = if signed { Extension::Signed } else { Extension::Zero };
    named.write(extend(extension, 8 * size as u32, Expression::Leaf(loaded)), column);
}

fn store(
    order: Order,
    size: Option<Size>,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<(), ParseError> {
    let at = *cell;
    let source = named(cell, column)?;
    let size = size_of(source, size, &at)?;
    cell.symbol(",")?;
    let on_address = *cell;
    let address = address(&[source], cell, column)?;
    let address = address.writing_back_if(order == Order::Plain, &on_address)?;
    column.push(Instruction::Store { address: address.address.clone(), size, value: source.read(), order });
    address.write_back(column);
    Ok(())
}

/// LDP and STP, which are two accesses, and not ordered with each other.
fn pair(
    loads: bool,
    signed: Option<Size>,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<(), ParseError> {
    let first = named(cell, column)?;
    cell.symbol(",")?;
    let at = *cell;
    let second = of_same_width(first, cell, column)?;
    if loads && first.register == second.register {
        return Err(at.error("both go into the same register"));
    }
    cell.symbol(",")?;
    let address = address(&[first, second], cell, column)?;
    // The first load may change the register that the address is in.
    let base = column.thread.temporary();
    column.push(Instruction::Set { target: base, value: address.address.clone() });
    let size = signed.unwrap_or(first.size());
    for (number, register) in [first, second].into_iter().enumerate() {
        let offset = Box::new(Expression::Constant((size * number) as i64));
        let at = Expression::Binary(Operator::Add, Box::new(Expression::Leaf(base)), offset);
        if loads {
            load_into(register, &at, (size, signed.is_some()), (Order::Plain, false), column);
        } else {
            let value = register.read();
            column.push(Instruction::Store { address: at, size, value, order: Order::Plain });
        }
    }
    address.write_back(column);
    Ok(())
}

fn store_exclusive(
    order: Order,
    size: Option<Size>,
    cell: &mut Cursor<'_>,
    column: &mut Column<'_>,
) -> Result<(), ParseError> {
    let named_status = named(cell, column)?;
    cell.symbol(",")?;
    let at = *cell;
    let source = named(cell, column)?;
    let size = size_of(source, size, &at)?;
    cell.symbol(",")?;
    let on_address = *cell;
    let address = address(&[source], cell, column)?.writing_back_if(false, &on_address)?.address;
    let status = named_status.target(column);
    column.push(Instruction::StoreExclusive { status, address, size, value: source.read(), order });
    named_status.write(Expression::Leaf(status), column);
    Ok(())
}

const FAMILIES: [(&str, Option<Operator>); 10] = [
    ("SWP", None),
    ("CAS", None),
    ("LDADD", Some(Operator::Add)),
    ("LDSET", Some(Operator::Or)),
    ("LDCLR", Some(Operator::AndNot)),
    ("LDEOR", Some(Operator::Xor)),
    ("STADD", Some(Operator::Add)),
    ("STSET", Some(Operator::Or)),
    ("STCLR", Some(Operator::AndNot)),
    ("STEOR", Some(Operator::Xor)),
];

/// Translates SWP, CAS, and the families of LDADD and STADD.
fn update(name: &str, cell: &mut Cursor<'_>, column: &mut Column<'_>) -> Result<Option<()>, ParseError> {
    let Some((family, operator)) = FAMILIES.into_iter().find(|(family, _)| name.starts_with(family)) else {
        return Ok(None);
    };
    let ending = &name[family.len()..];
    let (ending, size) = match (ending.strip_suffix('B'), ending.strip_suffix('H')) {
        (Some(ending), _) => (ending, Some(1)),
        (_, Some(ending)) => (ending, Some(2)),
        _ => (ending, None),
    };
    let stores = family.starts_with("ST");
    let order = match ending {
        "" => Order::Plain,
        "A" if !stores => Order::Acquire,
        "L" => Order::Release,
        "AL" if !stores => Order::AcquireRelease,
        _ => return Ok(None),
    };
    let at = *cell;
    let source = named(cell, column)?;
    let size = size_of(source, size, &at)?;
    cell.symbol(",")?;
    let result = if stores {
        Named { register: None, wide: source.wide }
    } else {
        let result = of_same_width(source, cell, column)?;
        cell.symbol(",")?;
        result
    };
    let on_address = *cell;
    let address = address(&[source, result], cell, column)?.writing_back_if(false, &on_address)?.address;
    let register = if family == "CAS" { source } else { result };
    let old = register.register.is_some().then(|| column.thread.temporary());
    let bits = 8 * size as u32;
    if family == "CAS" {
        let made = column.thread.temporary();
        let failure = if order.acquires() { Order::Acquire } else { Order::Plain };
        let (expected, desired, weak, keeps) = (source.read(), result.read(), false, true);
        column.push(Instruction::CompareExchange(CompareExchange {
            old,
            made,
            address,
            size,
            expected,
            desired,
            order,
            failure,
            weak,
            keeps,
        }));
    } else {
        let operand = source.read();
        column.push(Instruction::Update(Update { old, address, size, operator, operand, order }));
    }
    if let Some(old) = old {
        register.write(extend(Extension::Zero, bits, Expression::Leaf(old)), column);
    }
    Ok(Some(()))
}
