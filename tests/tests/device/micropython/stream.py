"""Pushes the steps of a recording, and prints a line for each sample: its status and the answer, in hexadecimal."""

import struct

import gait

DOUBTS = (None, "low-margin", "low-likelihood", "high-likelihood")


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def numbers(answer):
    if hasattr(stream, "finish"):
        return [n for event in answer or () for n in of_event(*event)]
    if hasattr(stream, "statistics"):
        index, value = answer or (-1, 0.0)
        return [index & 0xFFFFFFFF, bits(value)] + [bits(x) for x in stream.statistics()]
    if answer is None:
        return []
    label, margin, probability, doubt = answer
    found = [gait.CLASSES.index(label), bits(margin)]
    if probability is not None:
        found += [bits(probability), DOUBTS.index(doubt)]
    return found + [bits(x) for x in stream.log_likelihoods()]


def of_event(label, start, end, log_odds):
    return gait.CLASSES.index(label), start, end, bits(log_odds)


def show(status, found):
    print(" ".join("%08x" % n for n in [status] + found))


def sample(words):
    if words[0] == "missing":
        return None
    if words[0] == "symbol":
        return int(words[1])
    row = [struct.unpack("<f", struct.pack("<I", int(word, 16)))[0] for word in words[1:]]
    # NaN and None are both a missing channel.
    return [None if x != x and n % 2 else x for n, x in enumerate(row)]


stream = gait.Stream()
for line in open("recording.txt"):
    words = line.split()
    if words[0] == "reset":
        if hasattr(stream, "finish"):
            show(0xFFFFFFFF, numbers(stream.finish()))
        stream.reset()
        continue
    status = 0
    try:
        answer = stream.push(sample(words))
        assert answer == stream.read()
    except ValueError as error:
        status = 1 if "rules this sample out" in str(error) else 2
        answer = stream.read()
    show(status, numbers(answer))
    if hasattr(stream, "statistics") and answer is not None:
        stream.reset()
