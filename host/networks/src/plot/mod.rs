//! The figure of a network's graph.

use std::fmt::Write as _;

mod layers;

use crate::Network;
use fishweir::internals::svg::{colour, draw_heading, escape, open};
use fishweir::report::counted;
use layers::{Layout, layout};

/// A figure of a network's graph: nodes in layers, parents above their children.
#[derive(Clone, Debug)]
pub struct NetworkPlot<'a> {
    /// The title.
    pub title: &'a str,
    /// The network.
    pub network: &'a Network,
    /// A node that stands out: the class.
    pub marked: Option<usize>,
}

/// A letter's width, a line's height, and the room around a node and between layers.
const LETTER: f64 = 10.4;
const HEIGHT: f64 = 30.0;
const ROOM: f64 = 22.0;
const LAYER: f64 = 84.0;
const MARGIN: f64 = 28.0;
const HEADING: f64 = 92.0;

impl NetworkPlot<'_> {
    /// The figure.
    pub fn to_svg(&self) -> String {
        let shape = self.network.shape();
        let names = self.network.variables().iter().map(|variable| variable.name.as_str());
        let widths: Vec<f64> =
            names.clone().map(|name| LETTER * name.chars().count().max(3) as f64 + 18.0).collect();
        let edges: Vec<(usize, usize)> = shape.edges().collect();
        let Layout { place, routes } = layout(&widths, &edges, ROOM);
        let right = place.iter().zip(&widths).map(|(at, width)| at.0 + 0.5 * width);
        let bends = routes.iter().flatten().map(|at| at.0);
        let width = right.chain(bends).fold(420.0, f64::max) + 2.0 * MARGIN;
        let layers = place.iter().map(|at| at.1).max().unwrap_or(0);
        let height = HEADING + LAYER * layers as f64 + HEIGHT + MARGIN;
        let mut svg = open(self.title, (width, height));
        let words = [
            counted(shape.nodes(), "node"),
            counted(edges.len(), "edge"),
            counted(shape.parameters(), "free parameter"),
        ];
        draw_heading(self.title, &words.join(", "), MARGIN, &mut svg);
        let _ = writeln!(
            svg,
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0.8L7.5 4L0 7.2z\" fill=\"#7f8a99\"/></marker></defs>"
        );
        let y = |layer: usize| HEADING + LAYER * layer as f64;
        for (&(parent, child), route) in edges.iter().zip(&routes) {
            let from = (place[parent].0, y(place[parent].1) + HEIGHT);
            let to = (place[child].0, y(place[child].1));
            let between = route.iter().map(|&(x, layer)| (x, y(layer) + 0.5 * HEIGHT));
            let points: Vec<(f64, f64)> = [from].into_iter().chain(between).chain([to]).collect();
            let _ = write!(svg, "<path d=\"M{:.1} {:.1}", points[0].0 + MARGIN, points[0].1);
            // Upright at its ends; at a bend along the way from the point before to the one after.
            let slope = |index: usize| match (index.checked_sub(1), points.get(index + 1)) {
                (Some(before), Some(after)) => {
                    let before = points[before];
                    0.6 * (after.0 - before.0) / (after.1 - before.1)
                }
                _ => 0.0,
            };
            for (index, pair) in points.windows(2).enumerate() {
                let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
                let bend = 0.4 * (to_y - y);
                let _ = write!(
                    svg,
                    "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                    x + slope(index) * bend + MARGIN,
                    y + bend,
                    to_x - slope(index + 1) * bend + MARGIN,
                    to_y - bend,
                    to_x + MARGIN,
                    to_y
                );
            }
            svg.push_str(
                "\" fill=\"none\" stroke=\"#7f8a99\" stroke-width=\"1.3\" marker-end=\"url(#tip)\"/>\n",
            );
        }
        for (node, (name, (&(x, layer), width))) in names.zip(place.iter().zip(&widths)).enumerate()
        {
            let colour = colour(usize::from(self.marked == Some(node)));
            let (left, top) = (x - 0.5 * width + MARGIN, y(layer));
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" rx=\"7\" \
                 fill=\"{colour}\" fill-opacity=\"0.14\" stroke=\"{colour}\" stroke-width=\"1.4\"/>\
                 <text class=\"name middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + MARGIN,
                top + 0.5 * HEIGHT + 5.0,
                escape(name)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}
