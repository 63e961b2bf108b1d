//! A bank of systems classifies streams: values and derivatives are those of its models.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::filter::Stream;
use fishweir_core::number::Scalar;
use fishweir_tests::sample::Sampler;

use super::{dynamics, parameters, sequence};

#[test]
fn a_bayes_classifier_takes_the_likelier_system() {
    let mut sampler = Sampler::new(21);
    let systems = [sampler.system(2, 2), sampler.system(2, 2), sampler.system(2, 2)];
    let models = systems.each_ref().map(dynamics::<f32, 2, 2>);
    let mut weights = [[0.0_f32; 3]; 3];
    (0..3).for_each(|m| weights[m][m] = 1.0);
    let bayes = StreamClassifier::from_parts(models, weights, [0.0; 3], Normalisation::NONE);
    bayes.validate().expect("a classifier");
    let mut bank = Stream::new(&bayes);
    let mut alone = models.each_ref().map(|model| Stream::new(Kalman::of(model)));
    for x in sequence::<2>(&mut sampler, 60) {
        match x.map(|x| x.map(|x| x as f32)) {
            Some(x) => {
                bank.push(&x).expect("a sample");
                alone.iter_mut().for_each(|stream| stream.push(&x).expect("a sample"));
            }
            None => {
                bank.push(None).expect("nothing to refuse");
                alone.iter_mut().for_each(|stream| stream.push(None).expect("nothing to refuse"));
            }
        }
    }
    let logs = alone.each_ref().map(Stream::read);
    assert_eq!(bayes.log_likelihoods(bank.state()), logs);
    let best = (0..3).max_by(|&a, &b| logs[a].total_cmp(&logs[b]));
    assert_eq!(Some(bank.read().class), best);
}

#[test]
fn a_linear_machine_on_scores_reads_their_derivative() {
    let mut sampler = Sampler::new(22);
    let own: Parameters<f64, 2, 1> = parameters(&sampler.system(2, 1));
    let mut direction = Parameters::ZERO;
    direction.transition = [[0.5, -1.0], [0.25, 0.75]];
    direction.observation_noise = [[0.5]];
    let model = Dynamics::new(&own.with_directions(&[direction])).expect("a system");
    let machine =
        StreamClassifier::from_parts([model], [[0.0]], [-0.25], Normalisation::PER_SAMPLE);
    let mut stream = Stream::new(&machine);
    let mut alone = Stream::new(Kalman::of(&model));
    for x in sequence::<1>(&mut sampler, 30).iter().flatten() {
        stream.push(x).expect("a sample");
        alone.push(x).expect("a sample");
    }
    let derivative = alone.read().derivative(0).expect("a direction");
    let expected = derivative / stream.state().samples() as f64 - 0.25;
    assert!((machine.decision_values(stream.state())[0] - expected).abs() < 1e-12);
}
