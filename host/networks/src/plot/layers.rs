//! A directed graph without cycles in layers.

/// Positions of nodes and paths of edges.
pub(super) struct Layout {
    /// The middle of each node, from the left, and its layer.
    pub(super) place: Vec<(f64, usize)>,
    /// The bends of each edge, one a layer that it passes.
    pub(super) routes: Vec<Vec<(f64, usize)>>,
}

/// Sweeps over the layers.
const SWEEPS: usize = 40;

/// Lays out nodes of these widths, `room` apart, parents above their children.
///
/// A node's layer is the longest way to it, or lower where that makes edges shorter.
/// Edges that pass layers have a bend in each. Layers are sorted by the mean place of neighbours, up and
/// down, and the order with the fewest crossings is kept; then everything moves as near to its neighbours'
/// mean as its layer's order lets it.
///
/// Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures",
/// 1981.
pub(super) fn layout(widths: &[f64], edges: &[(usize, usize)], room: f64) -> Layout {
    let layer = layers(widths.len(), edges);
    let mut graph = Graph { widths: widths.to_vec(), layer, above: Vec::new(), below: Vec::new() };
    graph.above = vec![Vec::new(); widths.len()];
    graph.below = vec![Vec::new(); widths.len()];
    let mut routes = Vec::with_capacity(edges.len());
    for &(parent, child) in edges {
        let (mut last, mut bends) = (parent, Vec::new());
        for passed in graph.layer[parent] + 1..graph.layer[child] {
            let bend = graph.add(passed);
            graph.join(last, bend);
            bends.push(bend);
            last = bend;
        }
        graph.join(last, child);
        routes.push(bends);
    }
    let rows = graph.sorted();
    let x = graph.placed(&rows, room);
    let at = |node: usize| (x[node], graph.layer[node]);
    Layout {
        place: (0..widths.len()).map(at).collect(),
        routes: routes.into_iter().map(|bends| bends.into_iter().map(at).collect()).collect(),
    }
}

/// The longest way to each node, or lower where that makes edges shorter.
fn layers(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0_usize; nodes];
    // Each round settles a layer more; without cycles there are no more layers than nodes.
    for _ in 0..nodes {
        let before = layer.clone();
        edges.iter().for_each(|&(a, b)| layer[b] = layer[b].max(layer[a] + 1));
        if layer == before {
            break;
        }
    }
    // Groups that hang together by edges of one layer go down as long as that makes edges shorter.
    while edges.iter().any(|&(upper, _)| shorten(upper, edges, &mut layer)) {}
    layer
}

/// Moves down what hangs together with a node by edges of one layer, if more edges lead out of it than
/// into it, as far as those let it.
fn shorten(from: usize, edges: &[(usize, usize)], layer: &mut [usize]) -> bool {
    let mut group = vec![false; layer.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut group[node], true) {
            let tight = edges.iter().filter(|&&(a, b)| layer[b] == layer[a] + 1);
            open.extend(
                tight.filter(|&&(a, b)| a == node || b == node).map(|&(a, b)| a + b - node),
            );
        }
    }
    let out = edges.iter().filter(|&&(a, b)| group[a] && !group[b]);
    let into = edges.iter().filter(|&&(a, b)| !group[a] && group[b]).count();
    let room = out.clone().map(|&(a, b)| layer[b] - layer[a] - 1).min();
    match room {
        Some(by) if out.count() > into => {
            (0..layer.len()).filter(|&node| group[node]).for_each(|node| layer[node] += by);
            true
        }
        _ => false,
    }
}

/// Nodes and bends, whose neighbours are one layer off.
struct Graph {
    widths: Vec<f64>,
    layer: Vec<usize>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Graph {
    /// Adds a bend.
    fn add(&mut self, layer: usize) -> usize {
        self.widths.push(4.0);
        self.layer.push(layer);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        self.layer.len() - 1
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// The nodes of each layer, in the order with the fewest crossings found.
    fn sorted(&self) -> Vec<Vec<usize>> {
        let count = self.layer.iter().max().map_or(0, |last| last + 1);
        let mut rows = vec![Vec::new(); count];
        self.layer.iter().enumerate().for_each(|(node, &layer)| rows[layer].push(node));
        let mut best = (self.crossings(&rows), rows.clone());
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let order: Vec<usize> =
                if down { (1..count).collect() } else { (0..count.max(1) - 1).rev().collect() };
            for layer in order {
                let next = if down { layer - 1 } else { layer + 1 };
                let place = |node: &usize| rows[next].iter().position(|one| one == node);
                let mean = |near: &[usize], own: usize| {
                    let places: Vec<f64> =
                        near.iter().filter_map(place).map(|place| place as f64).collect();
                    match places.len() {
                        0 => own as f64,
                        all => places.iter().sum::<f64>() / all as f64,
                    }
                };
                let key = |(own, &node): (usize, &usize)| {
                    (mean(if down { &self.above[node] } else { &self.below[node] }, own), node)
                };
                let mut keyed: Vec<(f64, usize)> =
                    rows[layer].iter().enumerate().map(key).collect();
                // A stable sort: what is equal stays as it is.
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                rows[layer] = keyed.into_iter().map(|(_, node)| node).collect();
            }
            let crossings = self.crossings(&rows);
            if crossings < best.0 {
                best = (crossings, rows.clone());
            }
        }
        best.1
    }

    fn crossings(&self, rows: &[Vec<usize>]) -> usize {
        let mut place = vec![0; self.layer.len()];
        for row in rows {
            row.iter().enumerate().for_each(|(at, &node)| place[node] = at);
        }
        let between = |row: &Vec<usize>| {
            let ends: Vec<(usize, usize)> = row
                .iter()
                .flat_map(|&node| self.below[node].iter().map(move |&low| (node, low)))
                .map(|(node, low)| (place[node], place[low]))
                .collect();
            let crosses = |(index, &(a, b)): (usize, &(usize, usize))| {
                ends[..index].iter().filter(|&&(c, d)| (a < c && b > d) || (a > c && b < d)).count()
            };
            ends.iter().enumerate().map(crosses).sum::<usize>()
        };
        rows.iter().map(between).sum()
    }

    /// The middle of each node and bend, from the left.
    fn placed(&self, rows: &[Vec<usize>], room: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.layer.len()];
        for row in rows {
            let wanted = vec![0.0; row.len()];
            self.spread(row, &wanted, room, &mut x);
        }
        for sweep in 0..SWEEPS {
            let order: Vec<&Vec<usize>> =
                if sweep % 2 == 0 { rows.iter().collect() } else { rows.iter().rev().collect() };
            for row in order {
                let mean = |&node: &usize| {
                    let near = self.above[node].iter().chain(&self.below[node]);
                    let count = near.clone().count();
                    match count {
                        0 => x[node],
                        count => near.map(|&other| x[other]).sum::<f64>() / count as f64,
                    }
                };
                let wanted: Vec<f64> = row.iter().map(mean).collect();
                self.spread(row, &wanted, room, &mut x);
            }
        }
        let left = (0..x.len()).map(|node| x[node] - 0.5 * self.widths[node]);
        let first = left.fold(f64::INFINITY, f64::min);
        x.iter_mut().for_each(|x| *x -= first);
        x
    }

    /// Places a row in its order, with room between, as near to what is wanted as can be: the least sum of
    /// squares, by pooling neighbours that would overlap.
    fn spread(&self, row: &[usize], wanted: &[f64], room: f64, x: &mut [f64]) {
        let mut offset = Vec::with_capacity(row.len());
        for (index, &node) in row.iter().enumerate() {
            let before = index.checked_sub(1).map_or(0.0, |before| {
                let both = self.widths[row[before]] + self.widths[node];
                offset[before] + 0.5 * both + room
            });
            offset.push(before);
        }
        // Runs that move as one: their mean, and how many they are.
        let mut runs: Vec<(f64, usize)> = Vec::new();
        for (wanted, offset) in wanted.iter().zip(&offset) {
            runs.push((wanted - offset, 1));
            while let [.., (a, n), (b, m)] = runs[..]
                && a > b
            {
                runs.truncate(runs.len() - 2);
                let all = (n + m) as f64;
                runs.push(((a * n as f64 + b * m as f64) / all, n + m));
            }
        }
        let shifts = runs.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
        for ((&node, offset), shift) in row.iter().zip(&offset).zip(shifts) {
            x[node] = offset + shift;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_above_and_nothing_overlaps() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (4, 3), (3, 5), (0, 5)];
        let widths = [40.0, 60.0, 20.0, 90.0, 30.0, 50.0];
        let Layout { place, routes } = layout(&widths, &edges, 10.0);
        for &(parent, child) in &edges {
            assert!(place[parent].1 < place[child].1);
        }
        assert_eq!(place[4].1, place[3].1 - 1, "hangs as low as it can");
        assert_eq!(routes.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0, 0, 2]);
        for a in 0..widths.len() {
            for b in 0..a {
                let apart = (place[a].0 - place[b].0).abs() + 1e-9;
                assert!(place[a].1 != place[b].1 || apart >= 0.5 * (widths[a] + widths[b]) + 10.0);
            }
        }
    }
}
