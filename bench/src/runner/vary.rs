//! The cases of a workload with the values of parameters that the user asks for.

use crate::{
    cli::Values,
    workload::{Case, Param, Workers, Workload},
};

/// The cases of `workload`, with each of the values of each parameter that is asked for. Equal
/// cases are merged.
pub(super) fn cases(workload: &'static Workload, asked: &[Values]) -> Vec<&'static Case> {
    let mut cases: Vec<&'static Case> = Vec::new();
    for case in workload.cases.iter().flat_map(|case| with_values(case, asked)) {
        if !cases.iter().any(|other| is_same(other, case)) {
            cases.push(case);
        }
    }
    cases
}

/// Returns `true` if some case of the workload has the parameter.
pub(super) fn has(workload: &Workload, param: &str) -> bool {
    workload.cases.iter().any(|case| case.param(param).is_some())
}

fn with_values(case: &'static Case, asked: &[Values]) -> Vec<&'static Case> {
    let mut cases = vec![case];
    for Values { name, values } in asked.iter().filter(|asked| case.param(&asked.name).is_some()) {
        let each = |case: &&'static Case| {
            values.iter().map(|value| with_value(case, name, *value)).collect::<Vec<_>>()
        };
        cases = cases.iter().flat_map(each).collect();
    }
    cases
}

/// Lives as long as the program, as the cases of the workloads do.
fn with_value(case: &'static Case, name: &str, value: u64) -> &'static Case {
    let other =
        |param: &Param| if param.name == name { Param { value, quick: value, ..*param } } else { *param };
    let params: Vec<Param> = case.params.iter().map(other).collect();
    Box::leak(Box::new(Case { params: params.leak(), ..*case }))
}

fn is_same(a: &Case, b: &Case) -> bool {
    let values =
        |case: &Case| -> Vec<_> { case.params.iter().map(|param| (param.name, param.value)).collect() };
    let workers = |case: &Case| match case.workers {
        Workers::Asked => None,
        Workers::Exactly(count) => Some(count),
    };
    a.variant == b.variant && values(a) == values(b) && workers(a) == workers(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads;

    fn values(workload: &str, asked: &[(&str, &[u64])]) -> Vec<(&'static str, Vec<u64>)> {
        let asked: Vec<Values> = asked
            .iter()
            .map(|(name, values)| Values { name: (*name).to_owned(), values: values.to_vec() })
            .collect();
        let cases = cases(workloads::find(workload).unwrap(), &asked);
        cases
            .iter()
            .map(|case| (case.variant, case.params.iter().map(|param| param.value).collect()))
            .collect()
    }

    #[test]
    fn each_variant_has_each_value_once() {
        let all = values("chain", &[("relays", &[1, 1000])]);
        let expected: Vec<(&str, Vec<u64>)> = ["rendezvous", "buffered"]
            .into_iter()
            .flat_map(|variant| [(variant, vec![1]), (variant, vec![1000])])
            .collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn what_is_not_asked_for_is_as_it_was() {
        let workload = workloads::find("chain").unwrap();
        assert_eq!(values("chain", &[("pairs", &[7])]).len(), workload.cases.len());
        assert!(has(workload, "relays") && !has(workload, "pairs"));
    }
}
