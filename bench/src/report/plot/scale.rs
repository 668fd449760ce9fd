//! An axis: its ends, its marks, and the places of values on it.

/// Above this factor between the least and the greatest value, a linear scale hides the small ones.
const LINEAR: f64 = 20.0;

pub(super) struct Scale {
    low: f64,
    high: f64,
    pub(super) is_log: bool,
    /// Round numbers, in order.
    pub(super) marks: Vec<f64>,
}

impl Scale {
    /// For values, all above 0, between `least` and `greatest`.
    pub(super) fn covering(least: f64, greatest: f64) -> Self {
        if greatest / least > LINEAR { Scale::log(least, greatest) } else { Scale::linear(greatest) }
    }

    /// From 0, with five steps at most.
    fn linear(greatest: f64) -> Self {
        let step = round_numbers(greatest / 10.0).find(|step| step * 5.0 >= greatest).expect("they grow");
        let steps = (greatest / step).ceil();
        let marks = (0..=steps as u32).map(|i| f64::from(i) * step).collect();
        Scale { low: 0.0, high: steps * step, is_log: false, marks }
    }

    /// From a round number well below the least, so that its bar has a length.
    fn log(least: f64, greatest: f64) -> Self {
        let low =
            round_numbers(least / 10.0).take_while(|low| *low <= least * 0.8).last().expect("one is below");
        let mut marks: Vec<f64> = round_numbers(low).take_while(|mark| *mark < greatest).collect();
        let high = round_numbers(greatest).next().expect("they grow");
        marks.push(high);
        if marks.len() > 6 {
            marks.retain(|mark| (mark.log10() - mark.log10().round()).abs() < 1e-9);
        }
        let every = marks.len().div_ceil(6);
        let marks = marks.into_iter().step_by(every).collect();
        Scale { low, high, is_log: true, marks }
    }

    /// In per cent of the axis.
    pub(super) fn position(&self, value: f64) -> f64 {
        let part = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        (part * 100.0).clamp(0.0, 100.0)
    }
}

/// 1, 2 and 5 times the powers of ten, from `least` up.
fn round_numbers(least: f64) -> impl Iterator<Item = f64> {
    let decade = least.log10().floor() as i32;
    let numbers = (decade..).flat_map(|power| {
        // For a negative power a division gives the float nearest to the decimal number.
        let at =
            move |digit: f64| if power < 0 { digit / 10f64.powi(-power) } else { digit * 10f64.powi(power) };
        [at(1.0), at(2.0), at(5.0)]
    });
    // A round number may be off by its last bits.
    numbers.skip_while(move |number| *number < least * (1.0 - 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_values_are_on_a_linear_scale_from_zero() {
        let scale = Scale::covering(50.0, 130.0);
        assert!(!scale.is_log);
        assert_eq!(scale.marks, [0.0, 50.0, 100.0, 150.0]);
        assert_eq!([scale.position(0.0), scale.position(75.0), scale.position(150.0)], [0.0, 50.0, 100.0]);
    }

    #[test]
    fn far_values_are_on_a_log_scale() {
        let scale = Scale::covering(0.1, 95.0);
        assert!(scale.is_log);
        assert_eq!(scale.marks, [0.1, 1.0, 10.0, 100.0]);
        assert!(scale.position(0.1) > 0.0);
        assert_eq!(scale.position(100.0), 100.0);
        let decade = scale.position(10.0) - scale.position(1.0);
        assert!((scale.position(100.0) - scale.position(10.0) - decade).abs() < 1e-9);
        assert_eq!(Scale::covering(30.0, 700.0).marks, [20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn every_scale_has_a_few_marks_and_covers_its_values() {
        for (least, greatest) in [(1.0, 1.0), (0.003, 0.004), (7.0, 1e9), (1e-6, 1e12), (999.0, 1001.0)] {
            let scale = Scale::covering(least, greatest);
            assert!((2..=7).contains(&scale.marks.len()), "{:?}", scale.marks);
            assert!(scale.low < least && greatest <= scale.high * (1.0 + 1e-9));
        }
    }
}
