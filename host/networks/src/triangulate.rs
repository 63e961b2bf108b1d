//! Triangulation by minimal fill.

use fishweir::internals::Elementary;

/// A set of nodes, a bit each.
#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(nodes: usize) -> Self {
        Self(vec![0; nodes.div_ceil(64)])
    }

    fn set(&mut self, node: usize, to: bool) {
        let bit = 1 << (node % 64);
        if to { self.0[node / 64] |= bit } else { self.0[node / 64] &= !bit }
    }

    fn members(&self) -> Vec<usize> {
        let of_word = |(word, &bits): (usize, &u64)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(of_word).collect()
    }

    fn count_without(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & !b).count_ones() as usize).sum()
    }
}

/// The cliques of a triangulation of the graph in which the members of each scope are joined, with the
/// clique above each: parents first, so that what a clique shares with all before it is in the one above.
///
/// Nodes are eliminated one by one: the one whose neighbours lack the fewest edges between them, of these
/// the one that makes the smallest table, of these the first. Work: `n^2 d^2 / 64` for `n` nodes with `d`
/// neighbours.
pub(super) fn cliques(cards: &[usize], scopes: &[Vec<usize>]) -> Vec<(Vec<usize>, Option<usize>)> {
    let nodes = cards.len();
    let mut near = vec![Bits::new(nodes); nodes];
    for scope in scopes {
        for &a in scope {
            scope.iter().filter(|&&b| b != a).for_each(|&b| near[a].set(b, true));
        }
    }
    // Neighbours of each node when it was eliminated, in the order of elimination.
    let mut eliminated: Vec<(usize, Vec<usize>)> = Vec::with_capacity(nodes);
    let mut left: Vec<usize> = (0..nodes).collect();
    let cost = |node: usize, near: &[Bits]| {
        let around = near[node].members();
        // Of the edges that lack each is seen from both ends, and each neighbour lacks itself.
        let lacking: usize =
            around.iter().map(|&one| near[node].count_without(&near[one]) - 1).sum();
        let log_size: f64 = around.iter().map(|&one| (cards[one] as f64).portable_ln()).sum();
        (lacking, log_size + (cards[node] as f64).portable_ln())
    };
    let mut costs: Vec<Option<(usize, f64)>> = vec![None; nodes];
    while !left.is_empty() {
        let mut best: Option<(usize, (usize, f64))> = None;
        for (place, &node) in left.iter().enumerate() {
            let cost = *costs[node].get_or_insert_with(|| cost(node, &near));
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((place, cost));
            }
        }
        let node = left.remove(best.map_or(0, |(place, _)| place));
        let around = near[node].members();
        for &one in &around {
            let joined = near[node].clone();
            near[one].0.iter_mut().zip(&joined.0).for_each(|(own, other)| *own |= other);
            near[one].set(one, false);
            near[one].set(node, false);
        }
        // Whose neighbourhood may have changed: the neighbours, and theirs.
        for &one in &around {
            costs[one] = None;
            near[one].members().into_iter().for_each(|other| costs[other] = None);
        }
        eliminated.push((node, around));
    }
    let mut turn = vec![0; nodes];
    eliminated.iter().enumerate().for_each(|(place, (node, _))| turn[*node] = place);
    let mut found: Vec<(Vec<usize>, Option<usize>)> = Vec::new();
    let mut home = vec![0; nodes];
    for (node, around) in eliminated.iter().rev() {
        let above = around.iter().min_by_key(|&&one| turn[one]).map(|&one| home[one]);
        home[*node] = match above {
            Some(above) if found[above].0.len() == around.len() => {
                found[above].0.push(*node);
                above
            }
            above => {
                let clique = around.iter().copied().chain([*node]).collect();
                // Parts that share nothing hang on the first clique by a separator without variables.
                let above = above.or((!found.is_empty()).then_some(0));
                found.push((clique, above));
                found.len() - 1
            }
        };
    }
    found.iter_mut().for_each(|(clique, _)| clique.sort_unstable());
    found
}
