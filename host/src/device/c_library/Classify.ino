// Decides on what a sensor gives, sample by sample. Replace readSensor().
#include <fishweir.h>

static fishweir_stream stream;  // all of the RAM that a stream takes
static const char *const classes[] = FISHWEIR_CLASS_NAMES;

void setup() {
  Serial.begin(115200);
  if (fishweir_init(&stream, sizeof stream) != FISHWEIR_STATUS_OK) {
    Serial.println("header and library do not belong together");
    for (;;) {
    }
  }
}

#if FISHWEIR_CHANNELS > 0
// In the units and at the rate that the model was trained on.
static void readSensor(float channels[FISHWEIR_CHANNELS]) {
  for (size_t i = 0; i < FISHWEIR_CHANNELS; i++) {
    channels[i] = analogRead(A0);
  }
}

static fishweir_status next() {
  float channels[FISHWEIR_CHANNELS];
  readSensor(channels);
  return fishweir_push(&stream, channels, FISHWEIR_CHANNELS);
}
#else
// 0 to FISHWEIR_SYMBOLS - 1.
static fishweir_status next() {
  return fishweir_push_symbol(&stream, (uint16_t)(analogRead(A0) % FISHWEIR_SYMBOLS));
}
#endif

void loop() {
  fishweir_decision decision;
  if (next() != FISHWEIR_STATUS_OK) {
    fishweir_push_missing(&stream);  // refused: time passes
  }
  if (fishweir_decide(&stream, &decision) == FISHWEIR_STATUS_OK) {
    Serial.print(classes[decision.class_index]);
    Serial.print(" leads by ");
    Serial.println(decision.margin);
  }
  delay(20);
}
