/** Which members of an object were read; each has a bit of its own. A member that comes twice is odd. */
export class SeenMembers {
  bits = 0

  /** True when all of these bits are set. */
  has(members: number): boolean {
    return (this.bits & members) === members
  }

  /** Sets the bit. @returns false: it was set before */
  isFirst(member: number): boolean {
    const isFirst = (this.bits & member) === 0
    this.bits |= member
    return isFirst
  }
}
