//! Tables over a few variables, which inference multiplies and sums.

/// A function of some different variables: a table, the last variable varying fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    variables: Vec<usize>,
    cards: Vec<usize>,
    values: Vec<f64>,
}

impl Factor {
    /// The factor of a table.
    ///
    /// # Panics
    /// If there are not as many values as configurations of the variables.
    pub fn new(variables: Vec<usize>, cards: Vec<usize>, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), cards.iter().product::<usize>(), "a value a configuration");
        assert_eq!(variables.len(), cards.len(), "a number of states a variable");
        Self { variables, cards, values }
    }

    /// The factor of one everywhere over some of the variables that have these numbers of states.
    pub fn ones(variables: &[usize], cards: &[usize]) -> Self {
        let cards: Vec<usize> = variables.iter().map(|&variable| cards[variable]).collect();
        let values = vec![1.0; cards.iter().product()];
        Self { variables: variables.to_vec(), cards, values }
    }

    /// Variables, in the order of the axes.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// Values of the factor.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Converts into the values.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Renames the variables: `names[v]` in place of `v`.
    ///
    /// # Panics
    /// If one of its variables has no name.
    #[must_use]
    pub fn renamed(mut self, names: &[usize]) -> Self {
        self.variables.iter_mut().for_each(|variable| *variable = names[*variable]);
        self
    }

    /// Multiplies by a factor over some of its variables.
    pub fn multiply(&mut self, by: &Self) {
        self.change(by, |value, factor| *value *= factor);
    }

    /// Divides by a factor over some of its variables; nothing by nothing is nothing.
    pub fn divide(&mut self, by: &Self) {
        self.change(by, |value, divisor| {
            *value = if divisor == 0.0 { 0.0 } else { *value / divisor }
        });
    }

    fn change(&mut self, by: &Self, change: impl Fn(&mut f64, f64)) {
        let (values, others) = (&mut self.values, &by.values);
        walk(&self.cards, &strides(&self.variables, by), |run| {
            let own = &mut values[run.cell..run.cell + run.length];
            match run.step {
                0 => own.iter_mut().for_each(|value| change(value, others[run.from])),
                1 => {
                    let others = &others[run.from..run.from + run.length];
                    own.iter_mut().zip(others).for_each(|(value, &other)| change(value, other));
                }
                step => {
                    let others = others[run.from..].iter().step_by(step);
                    own.iter_mut().zip(others).for_each(|(value, &other)| change(value, other));
                }
            }
        });
    }

    /// The sum over all variables but these, in their order.
    pub fn sum_onto(&self, variables: &[usize]) -> Self {
        self.onto(variables, |sum, value| sum + value)
    }

    /// The largest value over all variables but these, in their order.
    pub fn max_onto(&self, variables: &[usize]) -> Self {
        self.onto(variables, f64::max)
    }

    fn onto(&self, variables: &[usize], fold: impl Fn(f64, f64) -> f64) -> Self {
        let card = |variable: &usize| {
            let axis = self.variables.iter().position(|own| own == variable);
            axis.map_or(1, |axis| self.cards[axis])
        };
        let cards: Vec<usize> = variables.iter().map(card).collect();
        let values = vec![0.0; cards.iter().product()];
        let mut onto = Self { variables: variables.to_vec(), cards, values };
        let strides = strides(&self.variables, &onto);
        let values = &mut onto.values;
        walk(&self.cards, &strides, |run| {
            let own = &self.values[run.cell..run.cell + run.length];
            match run.step {
                0 => {
                    values[run.from] = own.iter().fold(values[run.from], |sum, &one| fold(sum, one))
                }
                step => {
                    let to = values[run.from..].iter_mut().step_by(step);
                    to.zip(own).for_each(|(sum, &one)| *sum = fold(*sum, one));
                }
            }
        });
        onto
    }

    /// Divides by the sum of all values, which it gives; leaves a factor of zeros as it is.
    pub fn normalise(&mut self) -> f64 {
        let total: f64 = self.values.iter().sum();
        self.scale(total);
        total
    }

    /// Divides by the largest value, which it gives; leaves a factor of zeros as it is.
    pub fn normalise_by_largest(&mut self) -> f64 {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        self.scale(largest);
        largest
    }

    fn scale(&mut self, by: f64) {
        if by > 0.0 {
            self.values.iter_mut().for_each(|value| *value /= by);
        }
    }

    /// Sets to zero where a variable of its has another state.
    pub fn observe(&mut self, variable: usize, state: usize) {
        let Some(axis) = self.variables.iter().position(|&own| own == variable) else { return };
        let mut indicator =
            Self::new(vec![variable], vec![self.cards[axis]], vec![0.0; self.cards[axis]]);
        if let Some(value) = indicator.values.get_mut(state) {
            *value = 1.0;
        }
        self.multiply(&indicator);
    }

    /// The function of the variables whose state is not given, the others having theirs.
    ///
    /// # Panics
    /// If a variable has no such state.
    #[must_use]
    pub fn restrict(&self, given: impl Fn(usize) -> Option<usize>) -> Self {
        let (mut left, mut strides) = (Self::ones(&[], &[]), Vec::new());
        let (mut first, mut stride) = (0, self.values.len());
        for (&variable, &card) in self.variables.iter().zip(&self.cards) {
            stride /= card;
            if let Some(state) = given(variable) {
                assert!(state < card, "a state of the variable");
                first += state * stride;
            } else {
                left.variables.push(variable);
                left.cards.push(card);
                strides.push(stride);
            }
        }
        left.values.clear();
        walk(&left.cards, &strides, |Run { length, from, step, .. }| {
            left.values.extend((0..length).map(|at| self.values[first + from + at * step]));
        });
        left
    }

    /// The states of the largest value among the configurations that agree with what is given of each
    /// variable; the first of equals.
    pub fn largest(&self, given: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
        let given: Vec<Option<usize>> = self.variables.iter().map(|&v| given(v)).collect();
        let mut best: Option<(f64, Vec<usize>)> = None;
        for (at, &value) in self.values.iter().enumerate() {
            let states = self.states(at);
            let agrees = states.iter().zip(&given).all(|(s, g)| g.is_none_or(|g| g == *s));
            if agrees && best.as_ref().is_none_or(|(most, _)| value > *most) {
                best = Some((value, states));
            }
        }
        best.map_or_else(|| vec![0; self.cards.len()], |(_, states)| states)
    }

    fn states(&self, mut at: usize) -> Vec<usize> {
        let mut states = vec![0; self.cards.len()];
        for (state, &card) in states.iter_mut().zip(&self.cards).rev() {
            *state = at % card;
            at /= card;
        }
        states
    }
}

/// Strides of some variables in a factor; zero for a variable that it does not have.
fn strides(variables: &[usize], factor: &Factor) -> Vec<usize> {
    let mut own = vec![0; variables.len()];
    let mut stride = 1;
    for (variable, card) in factor.variables.iter().zip(&factor.cards).rev() {
        if let Some(axis) = variables.iter().position(|other| other == variable) {
            own[axis] = stride;
        }
        stride *= card;
    }
    own
}

/// Cells of a table, one after the other, and the places that belong to them in another.
struct Run {
    cell: usize,
    length: usize,
    /// The first place, and by how much it grows from cell to cell.
    from: usize,
    step: usize,
}

/// Visits every cell of a table in order, in runs, with its place in another table that has these strides.
/// Axes along which both go on evenly are one run.
fn walk(cards: &[usize], strides: &[usize], mut visit: impl FnMut(Run)) {
    let mut axes: Vec<(usize, usize)> = Vec::with_capacity(cards.len());
    for (&card, &stride) in cards.iter().zip(strides).filter(|(card, _)| **card > 1) {
        match axes.last_mut() {
            Some((above, wide)) if *wide == stride * card => {
                (*above, *wide) = (*above * card, stride)
            }
            _ => axes.push((card, stride)),
        }
    }
    let (length, step) = axes.pop().unwrap_or((1, 0));
    let mut digits = vec![0; axes.len()];
    let (mut cell, mut from) = (0, 0);
    loop {
        visit(Run { cell, length, from, step });
        cell += length;
        let mut axis = axes.len();
        loop {
            let Some(next) = axis.checked_sub(1) else { return };
            axis = next;
            let (card, stride) = axes[axis];
            digits[axis] += 1;
            from += stride;
            if digits[axis] < card {
                break;
            }
            from -= stride * card;
            digits[axis] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_follow_the_axes() {
        let cards = [2, 3, 2];
        let mut joint = Factor::ones(&[0, 1, 2], &cards);
        joint.multiply(&Factor::new(vec![2, 0], vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        joint.multiply(&Factor::new(vec![1], vec![3], vec![1.0, 10.0, 100.0]));
        // [0][1][2] = f(2, 0) g(1).
        let expected: Vec<f64> = [[1.0, 3.0], [2.0, 4.0]]
            .iter()
            .flat_map(|f| [1.0, 10.0, 100.0].iter().flat_map(move |g| f.map(|f| f * g)))
            .collect();
        assert_eq!(joint.values(), expected);
        assert_eq!(joint.sum_onto(&[1, 0]).values(), [4.0, 6.0, 40.0, 60.0, 400.0, 600.0]);
        assert_eq!(joint.max_onto(&[2]).values(), [200.0, 400.0]);
        assert_eq!(joint.sum_onto(&[]).values(), [1110.0]);
        assert_eq!(joint.largest(|v| (v == 2).then_some(0)), [1, 2, 0]);
        assert_eq!(
            joint.restrict(|v| (v == 1).then_some(2)).values(),
            [100.0, 300.0, 200.0, 400.0]
        );
        assert_eq!(joint.restrict(|v| (v != 1).then_some(1)).values(), [4.0, 40.0, 400.0]);
        assert_eq!(joint.restrict(|_| Some(1)).values(), [40.0]);
        joint.observe(1, 1);
        joint.divide(&Factor::new(vec![1], vec![3], vec![0.0, 10.0, 0.0]));
        assert_eq!(joint.normalise(), 10.0);
        let halves = joint.sum_onto(&[0]).into_values();
        assert!((halves[0] - 0.4).abs() < 1e-15 && (halves[1] - 0.6).abs() < 1e-15, "{halves:?}");
    }
}
