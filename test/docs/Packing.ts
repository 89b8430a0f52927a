/** README's commands that install, build and pack, in the order in which they are run in a fresh clone and beside it. */
export const install = "npm install ../holdfast/holdfast-0.1.0.tgz effect@4.1.0"
export const packing: readonly string[] = ["npm ci", "npm run fmt", "npm run build", "npm pack", install]
