use serde::Serialize;

use super::Judged;

/// The trade-off between detecting a class and false alarms, as the threshold on its lead moves:
/// the receiver operating characteristic.
///
/// With more than two classes it is the mean over the classes, each against the rest, of the share
/// detected at equal shares of false alarms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Roc {
    /// `(false alarms, detected)`, shares, rising from `(0, 0)` to `(1, 1)`.
    #[serde(skip)]
    pub points: Vec<(f64, f64)>,
    /// The area below: the probability that a window of the class has a larger lead than one that
    /// is not, ties counting half.
    pub area: f64,
}

/// Number of steps in the average of several classes' curves.
const STEPS: usize = 500;

impl Roc {
    /// Curve of judged windows of `classes` classes. With two classes the second is the one to detect.
    ///
    /// `None` if no class has both windows of its own and of others. Windows without a decision have no margin.
    pub fn of<'a>(classes: usize, judged: impl IntoIterator<Item = &'a Judged>) -> Option<Self> {
        let judged: Vec<&Judged> = judged.into_iter().filter(|one| one.label < classes).collect();
        let detected = if classes == 2 { 1..2 } else { 0..classes };
        let curves: Vec<Self> =
            detected.filter_map(|class| Self::of_class(class, &judged)).collect();
        match curves.len() {
            0 => None,
            1 => curves.into_iter().next(),
            count => {
                let share = |step: usize| step as f64 / STEPS as f64;
                let mean = |false_alarms: f64| {
                    curves.iter().map(|curve| curve.at(false_alarms)).sum::<f64>() / count as f64
                };
                let points = (0..=STEPS).map(|step| (share(step), mean(share(step))));
                let area = curves.iter().map(|curve| curve.area).sum::<f64>() / count as f64;
                Some(Self { points: [(0.0, 0.0)].into_iter().chain(points).collect(), area })
            }
        }
    }

    fn of_class(class: usize, judged: &[&Judged]) -> Option<Self> {
        let lead = |one: &Judged| match one.decision {
            Some(_) => one.leads.get(class).copied().unwrap_or(f32::NEG_INFINITY),
            None => f32::NEG_INFINITY,
        };
        Self::of_leads(judged.iter().map(|one| (lead(one), one.label == class)))
    }

    /// Curve of items with a score, larger for items that resemble the class, and whether they belong to it.
    ///
    /// `None` if all or none of them do.
    pub fn of_leads(items: impl IntoIterator<Item = (f32, bool)>) -> Option<Self> {
        let mut leads: Vec<(f32, bool)> = items.into_iter().collect();
        let own = leads.iter().filter(|(_, own)| *own).count();
        let others = leads.len() - own;
        if own == 0 || others == 0 {
            return None;
        }
        leads.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut points, mut area) = (vec![(0.0, 0.0)], 0.0);
        let (mut detected, mut alarms) = (0, 0);
        // Equal leads fall together: one straight stretch.
        for tied in leads.chunk_by(|a, b| a.0 == b.0) {
            let own_of_these = tied.iter().filter(|(_, own)| *own).count();
            let (x, y) = points[points.len() - 1];
            detected += own_of_these;
            alarms += tied.len() - own_of_these;
            let (to_x, to_y) = (alarms as f64 / others as f64, detected as f64 / own as f64);
            area += (to_x - x) * (y + to_y) / 2.0;
            points.push((to_x, to_y));
        }
        Some(Self { points: without_stairs(points), area })
    }

    /// The area up to a share of false alarms, relative to the largest it could be.
    pub fn area_up_to(&self, false_alarms: f64) -> f64 {
        let mut area = 0.0;
        for pair in self.points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if from.0 >= false_alarms {
                break;
            }
            let end = to.0.min(false_alarms);
            let up = if to.0 > from.0 {
                (to.1 - from.1) * (end - from.0) / (to.0 - from.0)
            } else {
                0.0
            };
            area += (end - from.0) * (from.1 + up / 2.0);
        }
        area / false_alarms
    }

    /// Share detected at a share of false alarms: the largest, where the curve is upright.
    fn at(&self, false_alarms: f64) -> f64 {
        let after = self.points.partition_point(|point| point.0 <= false_alarms);
        let (x, y) = self.points[after.saturating_sub(1)];
        match self.points.get(after) {
            Some(&(to_x, to_y)) => y + (to_y - y) * (false_alarms - x) / (to_x - x),
            None => y,
        }
    }
}

/// Leaves out the points within level or upright stretches.
fn without_stairs(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in points {
        if let [.., a, b] = kept[..]
            && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(label: usize, leads: &[f32]) -> Judged {
        Judged {
            series: 0,
            start: 0,
            label,
            decision: Some(0),
            margin: 0.0,
            leads: leads.to_vec(),
            likelihood: None,
            settled: 0,
            refused: 0,
        }
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        let leads = [(0, -2.0), (0, 0.5), (1, 0.5), (1, 3.0), (0, -1.0), (1, -1.5)];
        let judged: Vec<Judged> =
            leads.iter().map(|&(label, lead)| judged(label, &[-lead, lead])).collect();
        let roc = Roc::of(2, &judged).expect("two classes");
        let pairs = judged.iter().filter(|own| own.label == 1).flat_map(|own| {
            judged.iter().filter(|other| other.label == 0).map(move |other| {
                let (own, other) = (own.leads[1], other.leads[1]);
                f64::from(u8::from(own > other)) + 0.5 * f64::from(u8::from(own == other))
            })
        });
        let share = pairs.sum::<f64>() / 9.0;
        assert!((roc.area - share).abs() < 1e-12, "{} is not {share}", roc.area);
        assert!((roc.area_up_to(1.0) - roc.area).abs() < 1e-12);
        // Of three others one is above all but one of its own: a third of the alarms detect two.
        assert!((roc.area_up_to(1.0 / 6.0) - (1.0 / 3.0 + 0.5 / 6.0)).abs() < 1e-12, "{roc:?}");
        assert_eq!(roc.points.first(), Some(&(0.0, 0.0)));
        assert_eq!(roc.points.last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn several_classes_are_averaged() {
        let one: Vec<Judged> = (0..3)
            .map(|label| {
                let mut leads = [-1.0; 3];
                leads[label] = 1.0;
                judged(label, &leads)
            })
            .collect();
        let roc = Roc::of(3, &one).expect("three classes");
        assert_eq!(roc.area, 1.0);
        assert!(roc.points.iter().skip(1).all(|&(_, detected)| detected == 1.0));
        assert_eq!(Roc::of(3, &one[..1]), None, "nothing to tell it from");
    }
}
