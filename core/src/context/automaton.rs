use super::{ContextError, ContextRule};
use crate::error::ObservationError;

/// End of strings: marked by an event of its own, or open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StringEnd {
    /// Strings have no such event: all `K` events are symbols.
    Open,
    /// The last of the `K` events, `K - 1`, is the end. It is pushed like a symbol; after it the string
    /// is over, and wants a reset.
    Event,
}

impl StringEnd {
    const fn symbols(self, events: usize) -> usize {
        match self {
            Self::Open => events,
            Self::Event => events.saturating_sub(1),
        }
    }
}

/// The states of variable-length Markov strings: a set of strings, and from each, for each symbol, the
/// one that the string and the symbol lead to.
///
/// ```text
/// next(u, sigma) = the longest suffix of (u sigma) that is in the set
/// ```
///
/// The set decides what the model is:
///
/// | set | model | begins |
/// |---|---|---|
/// | all strings of length `k` ([`order`](Self::order)) | order `k` | when `k` symbols have been seen, which are not predicted |
/// | some strings and the empty one | a suffix set (probabilistic suffix automaton) | in the empty context |
/// | strings with start markers before the symbols | order `k`, padded | in the context of markers alone |
///
/// A start marker is written as the symbol past the last. The rule looks at the current context, not at
/// the whole history: where a context's own prefix is not a context, it may never be entered. After a
/// gap the empty context is the one that is known; where it is not in the set, as many symbols as the
/// longest context has are taken in without a prediction.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, example 12.32
/// and remark 12.33.
///
/// Flash: `2 C K` bytes and ten. Work per symbol: a look-up.
///
/// ```
/// use fishweir_core::context::{Automaton, StringEnd};
///
/// const CONTEXTS: [&[u16]; 4] = [&[], &[0], &[1], &[0, 1]];
/// const SET: Automaton<2, 4> = match Automaton::new(&CONTEXTS, StringEnd::Open) {
///     Ok(set) => set,
///     Err(_) => panic!("not a set of contexts"), // at compile time
/// };
/// assert_eq!(SET.next()[1][1], 3); // 0, then 1: the context 0 1
/// assert_eq!(SET.next()[3][1], 2); // 0 1, then 1: of 0 1 1 only 1 is in the set
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Automaton<const K: usize, const C: usize> {
    next: [[u16; K]; C],
    span: Span,
}

/// An [`Automaton`] whose sizes are known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct AutomatonView<'a> {
    next: &'a [u16],
    events: usize,
    span: Span,
}

/// Start and end of the strings of an [`Automaton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Span {
    symbols: u16,
    start: StringHistory,
    after_gap: StringHistory,
}

/// Position in a string: its context, the symbols missing until that is known, and whether it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StringHistory {
    context: u16,
    unknown: u16,
    ended: bool,
}

impl StringHistory {
    /// A place in a string that goes on, checked before, as an export writes it: a context, and the symbols missing until it is
    /// known.
    pub const fn from_parts(context: u16, unknown: u16) -> Self {
        Self { context, unknown, ended: false }
    }

    /// The context, known or not, and the symbols missing until it is known.
    pub const fn parts(self) -> (u16, u16) {
        (self.context, self.unknown)
    }

    /// The context, where it is known and the string goes on.
    pub const fn context(self) -> Option<usize> {
        if self.unknown == 0 && !self.ended { Some(self.context as usize) } else { None }
    }
}

impl Span {
    /// Number of symbols, where strings start and where they go on after a gap, checked before, as an export writes them.
    pub const fn from_parts(symbols: u16, start: StringHistory, after_gap: StringHistory) -> Self {
        Self { symbols, start, after_gap }
    }

    /// Start of strings, and where they go on after a gap.
    pub const fn parts(self) -> [StringHistory; 2] {
        [self.start, self.after_gap]
    }

    /// Builds the table `next`, `[context][event]` in rows of `events`, of contexts that end with the
    /// symbols seen last.
    ///
    /// `contexts^2 events` comparisons of two strings.
    ///
    /// # Errors
    /// Names the first context that is wrong, and how.
    pub const fn build(
        contexts: &[&[u16]],
        events: usize,
        end: StringEnd,
        next: &mut [u16],
    ) -> Result<Self, ContextError> {
        let symbols = end.symbols(events);
        let limit = u16::MAX as usize;
        if contexts.is_empty() || contexts.len() > limit || symbols >= limit {
            return Err(ContextError::Count { found: contexts.len(), expected: limit });
        }
        if next.len() != contexts.len() * events {
            let expected = match next.len().checked_div(events) {
                Some(rows) => rows,
                None => 0,
            };
            return Err(ContextError::Count { found: contexts.len(), expected });
        }
        if let Err(error) = check(contexts, symbols) {
            return Err(error);
        }
        let span = match Self::of(contexts, symbols) {
            Ok(span) => span,
            Err(error) => return Err(error),
        };
        let mut context = 0;
        while let Some(&string) = at(contexts, context) {
            let mut symbol = 0;
            while symbol < symbols {
                let Some(to) = longest_suffix(contexts, string, symbol as u16) else {
                    return Err(ContextError::NoSuffix { context, symbol });
                };
                if let Some((_, [slot, ..])) = next.split_at_mut_checked(context * events + symbol)
                {
                    *slot = to;
                }
                symbol += 1;
            }
            context += 1;
        }
        Ok(span)
    }

    /// [`build`](Self::build) of all strings of length `k` in lexicographic order, without comparing
    /// them: the context is the number that they are in base `events`, or `events - 1` where one of the
    /// events is the end.
    ///
    /// # Errors
    /// [`ContextError::Count`] where `next` has not a row for each such string.
    pub const fn order(
        k: u16,
        events: usize,
        end: StringEnd,
        next: &mut [u16],
    ) -> Result<Self, ContextError> {
        let symbols = end.symbols(events);
        let rows = match next.len().checked_div(events) {
            Some(rows) => rows,
            None => 0,
        };
        let (mut count, mut length) = (1_usize, 0_u16);
        while length < k && count <= rows {
            count *= symbols;
            length += 1;
        }
        let limit = u16::MAX as usize;
        if count != rows || next.len() != rows * events || rows > limit || symbols >= limit {
            return Err(ContextError::Count { found: count, expected: rows });
        }
        let mut context = 0;
        while context < rows {
            let mut symbol = 0;
            while symbol < symbols {
                if let Some((_, [slot, ..])) = next.split_at_mut_checked(context * events + symbol)
                {
                    *slot = ((context * symbols + symbol) % rows) as u16;
                }
                symbol += 1;
            }
            context += 1;
        }
        let start = StringHistory { context: 0, unknown: k, ended: false };
        Ok(Self { symbols: symbols as u16, start, after_gap: start })
    }

    /// Finds where strings begin and where they go on after a gap.
    const fn of(contexts: &[&[u16]], symbols: usize) -> Result<Self, ContextError> {
        let (mut markers, mut empty, mut uneven) = (None, None, None);
        let (mut longest, mut most_markers, mut before) = (0, 0, None);
        let mut context = 0;
        while let Some(&string) = at(contexts, context) {
            let length = string.len();
            match string.last() {
                None => empty = Some(context),
                // A marker comes last only where all are markers.
                Some(&last) if last as usize == symbols && length > most_markers => {
                    (markers, most_markers) = (Some(context), length);
                }
                Some(_) => {}
            }
            if length > longest {
                longest = length;
            }
            if let Some(before) = before
                && before != length
                && uneven.is_none()
            {
                uneven = Some(context);
            }
            before = Some(length);
            context += 1;
        }
        let (start, unknown) = match (markers, empty, uneven) {
            (Some(context), _, _) | (None, Some(context), _) => (context, 0),
            (None, None, None) => (0, longest),
            (None, None, Some(context)) => return Err(ContextError::NoEmpty { context }),
        };
        let (again, unknown_again) = match empty {
            Some(context) => (context, 0),
            None => (start, longest),
        };
        Ok(Self {
            symbols: symbols as u16,
            start: StringHistory { context: start as u16, unknown: unknown as u16, ended: false },
            after_gap: StringHistory {
                context: again as u16,
                unknown: unknown_again as u16,
                ended: false,
            },
        })
    }
}

/// `slice[i]`, where there is one: in constant functions, and without a panic.
const fn at<T>(slice: &[T], i: usize) -> Option<&T> {
    match slice.split_at_checked(i) {
        Some((_, [entry, ..])) => Some(entry),
        _ => None,
    }
}

/// Checks that symbols are in range, that markers come first, and that no context is repeated.
const fn check(contexts: &[&[u16]], symbols: usize) -> Result<(), ContextError> {
    let mut context = 0;
    while let Some(&string) = at(contexts, context) {
        let (mut position, mut after_symbol) = (0, false);
        while let Some(&symbol) = at(string, position) {
            let symbol = symbol as usize;
            if symbol > symbols || (symbol == symbols && after_symbol) {
                return Err(ContextError::Symbol { context, position });
            }
            after_symbol = symbol < symbols;
            position += 1;
        }
        let mut earlier = 0;
        while earlier < context {
            if let Some(&other) = at(contexts, earlier)
                && other.len() == string.len()
                && is_suffix(other, string)
            {
                return Err(ContextError::Duplicate { context, earlier });
            }
            earlier += 1;
        }
        context += 1;
    }
    Ok(())
}

/// Returns whether `suffix` is a suffix of `string`.
const fn is_suffix(mut suffix: &[u16], mut string: &[u16]) -> bool {
    while let [before @ .., last] = suffix {
        let [rest @ .., other] = string else { return false };
        if *last != *other {
            return false;
        }
        (suffix, string) = (before, rest);
    }
    true
}

/// The longest context that is a suffix of a string and one more symbol.
const fn longest_suffix(contexts: &[&[u16]], string: &[u16], symbol: u16) -> Option<u16> {
    let (mut best, mut longest) = (None, 0);
    let mut context = 0;
    while let Some(&candidate) = at(contexts, context) {
        let fits = match candidate {
            [] => true,
            [before @ .., last] => *last == symbol && is_suffix(before, string),
        };
        if fits && (best.is_none() || candidate.len() > longest) {
            (best, longest) = (Some(context as u16), candidate.len());
        }
        context += 1;
    }
    best
}

impl<const K: usize, const C: usize> Automaton<K, C> {
    /// The automaton of a set of contexts, `[context]`, each the symbols that were seen last in the
    /// order they came.
    ///
    /// # Errors
    /// Names the first context that is wrong, and how.
    pub const fn new(contexts: &[&[u16]; C], end: StringEnd) -> Result<Self, ContextError> {
        let mut next = [[0; K]; C];
        match Span::build(contexts, K, end, next.as_flattened_mut()) {
            Ok(span) => Ok(Self { next, span }),
            Err(error) => Err(error),
        }
    }

    /// All strings of length `k` in lexicographic order: the context is the number that they are in
    /// base `K`, or `K - 1` where one of the events is the end.
    ///
    /// # Errors
    /// [`ContextError::Count`] where `C` is not the number of such strings.
    pub const fn order(k: u16, end: StringEnd) -> Result<Self, ContextError> {
        let mut next = [[0; K]; C];
        match Span::order(k, K, end, next.as_flattened_mut()) {
            Ok(span) => Ok(Self { next, span }),
            Err(error) => Err(error),
        }
    }

    /// An automaton checked before, as an export writes it: `next[context][event]`.
    pub const fn from_parts(next: [[u16; K]; C], span: Span) -> Self {
        Self { next, span }
    }

    /// Context that each context and symbol lead to, `[context][event]`; the column of the end is
    /// undefined.
    pub const fn next(&self) -> &[[u16; K]; C] {
        &self.next
    }

    /// View of the automaton with its sizes at run time.
    #[inline]
    pub const fn view(&self) -> AutomatonView<'_> {
        AutomatonView { next: self.next.as_flattened(), events: K, span: self.span }
    }
}

impl<'a> AutomatonView<'a> {
    /// A view of a table that [`Span::build`] has filled, in rows of `events`.
    pub const fn new(next: &'a [u16], events: usize, span: Span) -> Self {
        Self { next, events, span }
    }
}

/// Contexts of the view past `C` have no distribution: nothing is predicted in them.
impl<const C: usize> ContextRule<usize, C> for AutomatonView<'_> {
    type History = StringHistory;

    #[inline(always)]
    fn start(&self) -> StringHistory {
        self.span.start
    }
    #[inline(always)]
    fn step(
        &self,
        history: StringHistory,
        event: &usize,
    ) -> Result<(Option<usize>, StringHistory), ObservationError> {
        if *event >= self.events {
            return Err(ObservationError::UnknownSymbol);
        }
        if history.ended {
            return Err(ObservationError::PastEnd);
        }
        let context = history.context();
        if *event >= usize::from(self.span.symbols) {
            return Ok((context, StringHistory { ended: true, ..history }));
        }
        let entry = usize::from(history.context) * self.events + event;
        let next = self.next.get(entry).ok_or(ObservationError::UnknownSymbol)?;
        let unknown = history.unknown.saturating_sub(1);
        Ok((context, StringHistory { context: *next, unknown, ended: false }))
    }
    #[inline]
    fn skip(&self, history: StringHistory) -> StringHistory {
        if history.ended { history } else { self.span.after_gap }
    }
}

impl<const K: usize, const C: usize> ContextRule<usize, C> for Automaton<K, C> {
    type History = StringHistory;

    #[inline(always)]
    fn start(&self) -> StringHistory {
        self.span.start
    }
    #[inline(always)]
    fn step(
        &self,
        history: StringHistory,
        event: &usize,
    ) -> Result<(Option<usize>, StringHistory), ObservationError> {
        ContextRule::<usize, C>::step(&self.view(), history, event)
    }
    #[inline(always)]
    fn skip(&self, history: StringHistory) -> StringHistory {
        ContextRule::<usize, C>::skip(&self.view(), history)
    }
}
