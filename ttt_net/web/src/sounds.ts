/** Sounds, synthesized without files. Loaded when first needed. */

export type Feeling = "placed" | "heard" | "turn" | "won" | "lost" | "drawn";

/** The notes of a sound: frequency in hertz, start and duration in seconds, and volume. */
type Note = readonly [number, number, number, number];
const NOTES: Record<Feeling, Note[]> = {
  placed: [[420, 0, 0.05, 0.5], [180, 0, 0.09, 0.7]],
  heard: [[330, 0, 0.05, 0.4], [150, 0, 0.09, 0.6]],
  turn: [[660, 0, 0.12, 0.25], [880, 0.1, 0.16, 0.25]],
  won: [[523, 0, 0.16, 0.3], [659, 0.12, 0.16, 0.3], [784, 0.24, 0.34, 0.35]],
  lost: [[330, 0, 0.22, 0.2], [262, 0.18, 0.4, 0.2]],
  drawn: [[440, 0, 0.2, 0.2], [440, 0.2, 0.24, 0.2]],
};
let context: AudioContext | null = null;

export function sound(feeling: Feeling): void {
  context ??= new AudioContext();
  const now = context.currentTime;
  for (const [frequency, after, lasts, loud] of NOTES[feeling]) {
    const tone = new OscillatorNode(context, { type: "triangle", frequency });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, now + after);
    volume.gain.linearRampToValueAtTime(loud * 0.4, now + after + 0.005);
    volume.gain.exponentialRampToValueAtTime(0.001, now + after + lasts);
    tone.connect(volume).connect(context.destination);
    tone.start(now + after);
    tone.stop(now + after + lasts);
  }
}
