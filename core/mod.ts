/**
 * holdfast: bounded, fair, leak-free ownership of scarce resources for Effect programs.
 *
 * One namespace a noun; each is also an entry point of its own, such as `holdfast/Admission`.
 */
export * as Admission from "./Admission.ts"
export * as AdmissionLimits from "./AdmissionLimits.ts"
export * as AdmissionOptions from "./AdmissionOptions.ts"
export * as AdmissionRefused from "./AdmissionRefused.ts"
export * as AdmissionSnapshot from "./AdmissionSnapshot.ts"
export * as Backoff from "./Backoff.ts"
export * as CircuitBreaker from "./CircuitBreaker.ts"
export * as Deadline from "./Deadline.ts"
export * as GateLine from "./GateLine.ts"
export * as GateOptions from "./GateOptions.ts"
export * as GateRefused from "./GateRefused.ts"
export * as GateSnapshot from "./GateSnapshot.ts"
export * as GateVerdict from "./GateVerdict.ts"
export * as Lease from "./Lease.ts"
export * as Limits from "./Limits.ts"
export * as Outcome from "./Outcome.ts"
export * as Permit from "./Permit.ts"
export * as ProviderGate from "./ProviderGate.ts"
export * as ProviderGates from "./ProviderGates.ts"
export * as Refusal from "./Refusal.ts"
export * as Snapshot from "./Snapshot.ts"
