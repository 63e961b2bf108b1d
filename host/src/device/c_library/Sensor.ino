// Reads a sensor at the rate of the training data and asks what the model says of it. Replace readSensor().
#include <{{prefix}}.h>

static {{prefix}}_stream stream;  // all of the RAM that a stream takes

// The time from one sample to the next.
#if {{PREFIX}}_PERIOD_NS == 0
// The model does not say: put the period of the training data here.
#define SAMPLE_PERIOD_NS 20000000ULL
#else
#define SAMPLE_PERIOD_NS {{PREFIX}}_PERIOD_NS
#endif
#if SAMPLE_PERIOD_NS < 1000000000ULL
#define SAMPLE_CLOCK micros
#define SAMPLE_PERIOD ((unsigned long)(SAMPLE_PERIOD_NS / 1000))
#else
#define SAMPLE_CLOCK millis
#define SAMPLE_PERIOD ((unsigned long)(SAMPLE_PERIOD_NS / 1000000))
#endif
static unsigned long last;  // when the last sample was due

void setup() {
  Serial.begin(115200);
  if ({{prefix}}_init(&stream, sizeof stream) != {{PREFIX}}_STATUS_OK) {
    Serial.println("header and library do not belong together");
    for (;;) {
    }
  }
  last = SAMPLE_CLOCK();
}

#if {{PREFIX}}_CHANNELS > 0
// In the units that the model was trained on.
static void readSensor(float channels[{{PREFIX}}_CHANNELS]) {
  for (size_t i = 0; i < {{PREFIX}}_CHANNELS; i++) {
    channels[i] = analogRead(A0);
  }
}

static {{prefix}}_status next() {
  float channels[{{PREFIX}}_CHANNELS];
  readSensor(channels);
#ifdef {{PREFIX}}_CHANNEL_PLACES
  // In fixed point a sample is integers.
  static const int places[] = {{PREFIX}}_CHANNEL_PLACES;
  int16_t integers[{{PREFIX}}_CHANNELS];
  for (size_t i = 0; i < {{PREFIX}}_CHANNELS; i++) {
    float scaled = channels[i];
    for (int place = 0; place < places[i]; place++) {
      scaled *= 2.0f;
    }
    for (int place = 0; place > places[i]; place--) {
      scaled *= 0.5f;
    }
    scaled += scaled < 0.0f ? -0.5f : 0.5f;
    integers[i] = (int16_t)(scaled > 32767.0f ? 32767.0f : scaled < -32768.0f ? -32768.0f : scaled);
  }
  return {{prefix}}_push_integers(&stream, integers, {{PREFIX}}_CHANNELS);
#else
  return {{prefix}}_push(&stream, channels, {{PREFIX}}_CHANNELS);
#endif
}
#else
// 0 to {{PREFIX}}_SYMBOLS - 1.
static {{prefix}}_status next() {
  return {{prefix}}_push_symbol(&stream, (uint16_t)(analogRead(A0) % {{PREFIX}}_SYMBOLS));
}
#endif

#if {{PREFIX}}_STATISTICS > 0
static void answer() {
  {{prefix}}_alarm alarm;
  if ({{prefix}}_detect(&stream, &alarm) == {{PREFIX}}_STATUS_OK && alarm.statistic != {{PREFIX}}_NO_ALARM) {
    Serial.print(alarm.statistic == 0 ? "unlikely: " : "change: ");
    Serial.println(alarm.value);
    {{prefix}}_reset(&stream);  // begin anew: a change that lasts is told again
  }
}
#elif {{PREFIX}}_EVENTS > 0
static const char *const classes[] = {{PREFIX}}_CLASS_NAMES;
static {{prefix}}_event events[{{PREFIX}}_EVENTS];

static void answer() {
  size_t count = 0;
  if ({{prefix}}_events(&stream, events, {{PREFIX}}_EVENTS, &count) == {{PREFIX}}_STATUS_OK) {
    for (size_t i = 0; i < count; i++) {
      Serial.print(classes[events[i].class_index]);
      Serial.print(", log-odds ");
      Serial.println(events[i].log_odds);
    }
  }
}
#else
static const char *const classes[] = {{PREFIX}}_CLASS_NAMES;

#if {{PREFIX}}_WINDOW_LENGTH == 0
// The model decides on whole series: put the number of samples in one here, or find its end otherwise.
static const unsigned long seriesLength = 100;
static unsigned long samples;
#endif

static void answer() {
#if {{PREFIX}}_WINDOW_LENGTH == 0
  if (++samples < seriesLength) {
    return;
  }
  samples = 0;
#endif
  // At the end of each window there is a decision, every {{PREFIX}}_WINDOW_HOP samples; before it there is none.
#if {{PREFIX}}_CALIBRATED
  {{prefix}}_prediction prediction;
  if ({{prefix}}_predict(&stream, &prediction) == {{PREFIX}}_STATUS_OK) {
    if (prediction.rejection == {{PREFIX}}_ACCEPTED) {
      Serial.print(classes[prediction.decision.class_index]);
      Serial.print(", probability ");
      Serial.println(prediction.probability);
    } else {
      Serial.println(prediction.rejection == {{PREFIX}}_LOW_MARGIN ? "rejected: too close" : "rejected: like no training data");
    }
  }
#else
  {{prefix}}_decision decision;
  if ({{prefix}}_decide(&stream, &decision) == {{PREFIX}}_STATUS_OK) {
    Serial.print(classes[decision.class_index]);
    Serial.print(" leads by ");
    Serial.println(decision.margin);
  }
#endif
#if {{PREFIX}}_WINDOW_LENGTH == 0
  {{prefix}}_reset(&stream);  // the next sample begins a new series
#endif
}
#endif

void loop() {
  if (SAMPLE_CLOCK() - last < SAMPLE_PERIOD) {
    return;
  }
  last += SAMPLE_PERIOD;
  next();  // a refused sample is missing: time passes, and the status says why
  answer();
}
