import { program } from './destinations.ts'
import { short } from '../short.ts'

await short('destinations', program)
