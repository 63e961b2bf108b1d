use std::ops::Range;

/// A share of the work: part `number` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// All of the work.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Part `number` of `of`; `None` if there is no such part.
    pub fn new(number: usize, of: usize) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// Number of the part, from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// Number of parts.
    pub fn of(self) -> usize {
        self.of
    }

    /// The items of this part, of `items`.
    pub fn range(self, items: usize) -> Range<usize> {
        let until = |part: usize| (items as u128 * part as u128 / self.of as u128) as usize;
        until(self.number - 1)..until(self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_of_the_work_and_nothing_twice() {
        for (items, of) in [(0, 3), (1, 3), (10, 3), (7, 7), (100, 1)] {
            let shares = (1..=of).filter_map(|number| Share::new(number, of));
            let items_of: Vec<usize> = shares.flat_map(|share| share.range(items)).collect();
            assert_eq!(items_of, (0..items).collect::<Vec<_>>());
        }
        assert_eq!((Share::new(0, 3), Share::new(4, 3), Share::new(1, 0)), (None, None, None));
    }
}
