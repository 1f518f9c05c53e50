import { program } from './members.ts'
import { short } from '../short.ts'

await short('members', program)
