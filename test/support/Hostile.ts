/** What a program may fail with and nobody can look at: each throws when it is asked for its words, and all but the first for anything. */
export const hostile = (): ReadonlyArray<object> => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const refuses = (): never => {
    throw new Error("do not look")
  }
  return [Object.create(null), revoked.proxy, new Proxy({}, { get: refuses, has: refuses })]
}
